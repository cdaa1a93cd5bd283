// A chapter as slides, on the same page with the same players: cells whose slide_type is "slide" or "subslide" begin one.
// Page Down and Page Up, or n and b, turn them; Escape ends. The address with #slides opens so.

function slidesOf(cells) {
  const slides = [];
  for (const cell of cells) {
    const begins = cell.classList.contains("slide") || cell.classList.contains("subslide");
    if (begins || slides.length === 0) slides.push([]);
    slides.at(-1).push(cell);
  }
  return slides;
}

const slides = slidesOf([...document.querySelectorAll(".book-cell")]);
const counter = document.getElementById("slide-number");
let at = -1;

function showSlide(to) {
  at = Math.max(0, Math.min(slides.length - 1, to));
  document.body.classList.add("slides");
  slides.forEach((cells, number) => cells.forEach((cell) => cell.classList.toggle("off-slide", number !== at)));
  counter.textContent = `${at + 1} of ${slides.length}`;
  scrollTo(0, 0);
}

function endSlides() {
  document.body.classList.remove("slides");
  document.querySelectorAll(".off-slide").forEach((cell) => cell.classList.remove("off-slide"));
  slides[at]?.[0].scrollIntoView();
  at = -1;
}

document.getElementById("show-slides").addEventListener("click", () => (at < 0 ? showSlide(0) : endSlides()));
document.addEventListener("keydown", (event) => {
  if (at < 0 || event.target.closest("input, textarea, select") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest(".kl-player") && event.key !== "n" && event.key !== "b") return;
  if (event.key === "PageDown" || event.key === "n") showSlide(at + 1);
  else if (event.key === "PageUp" || event.key === "b") showSlide(at - 1);
  else if (event.key === "Escape") endSlides();
  else return;
  event.preventDefault();
});
if (location.hash === "#slides") showSlide(0);
