// A chapter as slides, on the same page with the same players: one idea each. A cell begins a slide, unless it or its
// neighbour is a line or two; a picture has one of its own, and what does not fit goes on to the next: it is measured,
// so nothing is ever cut off. Checks, folded code, exercises' forms and what a prediction closes are on none.
// Page Down and Page Up, or n and b, turn them; o opens the notes in a second window, which follows; Escape ends. The
// address with #slides opens so; the notes' with #speaker are that window.

const slideHead = document.querySelector(".for-slides"), counter = document.getElementById("slide-number");
const notesLink = document.querySelector('.navigation a[href$=".instructor.html"]');
const shownIn = (element) => element.getClientRects().length > 0;
let slides = [], at = -1, speaker = null;

// What may stand on a slide, in order: its element, the cell it is of, and whether it wants a slide for itself.
function piecesOf(cell) {
  const pieces = [], add = (element, isAlone = false) => pieces.push({ element, cell, isAlone });
  const parts = (element) => {
    if (element.matches("ol, ul")) [...element.children].forEach((each) => add(each));
    else if (element.querySelector(":scope tbody tr")) element.querySelectorAll("tbody tr").forEach((each) => add(each));
    else add(element);
  };
  for (const words of cell.querySelectorAll(".jp-MarkdownCell .jp-RenderedMarkdown")) [...words.children].forEach(parts);
  for (const input of cell.querySelectorAll(".jp-CodeCell .jp-InputArea")) if (!input.closest(".kl-folded-code")) add(input);
  for (const output of cell.querySelectorAll(".jp-OutputArea-child")) {
    const picture = output.querySelector(".kl-player") ?? output.querySelector(":scope .jp-OutputArea-output > :is(img, svg)");
    if (picture) add(picture, true);
    else output.querySelector("tbody tr") ? parts(output) : add(output);
  }
  cell.querySelectorAll("[data-asks]").forEach((each) => add(each));
  return pieces;
}

const isHeading = (element) => /^H[1-6]$/.test(element.tagName);
const wordsOf = (heading) => heading.textContent.replace("¶", "").trim();

// The table or list whose first part this is, if it begins below something on the open slide.
function begunBy({ element }, open) {
  const whole = element.closest("table") ?? (element.tagName === "LI" ? element.parentElement : null);
  return whole && open && !whole.contains(open.pieces.at(-1).element) ? whole : null;
}

// The sentence that leads to a list goes with it.
function introOf(whole, { element }, open, room) {
  const last = open.pieces.at(-1);
  const leads = element.tagName === "LI" && open.pieces.length > 1 && last.element === element.parentElement.previousElementSibling;
  return leads && whole.bottom - last.box.top <= room;
}

// What of a cell belongs on one slide: up to its picture.
function restOf(measured, at) {
  const rest = [];
  for (const piece of measured.slice(at)) {
    if (piece.isAlone || piece.cell !== measured[at].cell || isHeading(piece.element)) break;
    rest.push(piece);
  }
  return rest;
}

// A line of code, or a sentence, has no slide of its own if it fits beside its neighbour; but only a line or two stand
// above a question.
function isLittle(open, rest, room) {
  const height = (pieces) => pieces.at(-1).box.bottom - pieces[0].box.top, little = room / 5;
  const fits = rest.at(-1).box.bottom - open.pieces[0].box.top <= room - open.extra;
  const asks = (pieces) => pieces.some(({ element }) => element.matches("[data-asks]"));
  if (!open.title || !fits) return false;
  return height(open.pieces) < little || (height(rest) < little && !asks(rest));
}

// A long name in a table goes on in the next line behind a dot or a dash, not in the middle of a word.
function letNamesBreak() {
  for (const code of document.querySelectorAll(".book-cell td code:not(:has(wbr))")) {
    const parts = code.textContent.split(/(?<=[.$_/-])(?=\w)/);
    code.replaceChildren(...parts.flatMap((part, at) => (at ? [document.createElement("wbr"), part] : [part])));
  }
}

// All pieces are laid out under each other and measured; then each slide takes as many as fit.
function cut() {
  document.querySelectorAll(".off-slide").forEach((each) => each.classList.remove("off-slide"));
  document.querySelector("main").style.zoom = "";
  freeWidths();
  letNamesBreak();
  document.querySelectorAll(".book-cell [data-smaller]").forEach((each) => {
    each.style.zoom = "";
    delete each.dataset.smaller;
  });
  const pieces = [...document.querySelectorAll(".book-cell")].flatMap(piecesOf).filter(({ element }) => shownIn(element));
  const room = document.documentElement.clientHeight - slideHead.offsetHeight - 3.5 * parseFloat(getComputedStyle(document.body).fontSize);
  const measured = pieces.map((piece) => ({ ...piece, box: piece.element.getBoundingClientRect(), wide: piece.element.closest("table")?.scrollWidth ?? piece.element.scrollWidth }));
  const made = [];
  let title = document.title, open = null;
  for (const [at, piece] of measured.entries()) {
    if (isHeading(piece.element)) {
      title = wordsOf(piece.element);
      open = null;
      if (piece.element.tagName === "H1") made.push((open = { title: "", pieces: [piece], names: title, cell: piece.cell, extra: piece.element.offsetHeight }));
      continue;
    }
    const table = piece.element.closest("table");
    const whole = begunBy(piece, open)?.getBoundingClientRect(); // what fits on a slide is not cut for what stands above it
    const isApart = whole && whole.height <= room && whole.bottom - open.pieces[0].box.top > room - open.extra;
    const goesOn = open && !open.isAlone && !piece.isAlone && (open.cell === piece.cell || isLittle(open, restOf(measured, at), room));
    if (goesOn && !isApart && piece.box.bottom - open.pieces[0].box.top <= room - open.extra) open.pieces.push(piece);
    else {
      const intro = isApart && goesOn && introOf(whole, piece, open, room);
      made.push((open = { title, pieces: intro ? [open.pieces.pop(), piece] : [piece], isAlone: piece.isAlone, extra: 0 }));
    }
    open.cell = piece.cell;
    const head = table?.tHead;
    if (open.pieces.length === 1 && head) open.extra = head.offsetHeight;
    open.extra ??= 0;
  }
  made.room = room;
  const firstOf = new Map();
  for (const slide of made) for (const { element } of slide.pieces) {
    const table = element.closest("table");
    if (table && (firstOf.get(table) ?? firstOf.set(table, slide).get(table)) !== slide) keepWidths(table);
  }
  return made;
}

// A table that goes on to the next slide keeps its columns as they were measured: with some rows away they would be others.
function keepWidths(table) {
  if (table.dataset.keepsWidths) return;
  table.dataset.keepsWidths = "yes";
  const widths = [table, ...table.querySelectorAll("th, td")].map((each) => [each, each.getBoundingClientRect().width]);
  for (const [each, width] of widths) Object.assign(each.style, { boxSizing: "border-box", width: `${width}px` });
  table.style.tableLayout = "fixed";
}

function freeWidths() {
  for (const table of document.querySelectorAll("[data-keeps-widths]")) {
    delete table.dataset.keepsWidths;
    for (const each of [table, ...table.querySelectorAll("th, td")]) Object.assign(each.style, { boxSizing: "", tableLayout: "", width: "" });
  }
}

function hideAllBut(kept) {
  const shown = new Set(kept.map(({ element }) => element));
  const holds = (element) => kept.some((each) => element.contains(each.element));
  for (const cell of document.querySelectorAll(".book-cell")) {
    const isHere = holds(cell);
    cell.classList.toggle("off-slide", !isHere);
    if (!isHere) continue;
    for (const { element } of piecesOf(cell)) element.classList.toggle("off-slide", !shown.has(element));
    for (const part of cell.querySelectorAll(".jp-Cell-inputWrapper, .jp-Cell-outputWrapper, .jp-OutputArea-child, .jp-RenderedMarkdown > *, .jp-RenderedHTMLCommon > *")) {
      if (!shown.has(part)) part.classList.toggle("off-slide", !holds(part));
    }
  }
}

// Few words are made larger, if they then fit; one piece that is larger than the screen is made smaller as a whole.
function fit(slide) {
  if (slide.isAlone) return;
  for (const { element } of slide.pieces) {
    const whole = element.closest("table") ?? element;
    if (whole.dataset.smaller) continue;
    const high = slides.room / Math.max(whole.getBoundingClientRect().height, 1), wide = whole.parentElement.clientWidth / Math.max(whole.scrollWidth, 1);
    const scale = Math.min(high, wide, 1);
    if (scale < 1) Object.assign(whole.style, { zoom: scale }), (whole.dataset.smaller = scale.toFixed(2));
  }
  const main = document.querySelector("main"), boxes = () => slide.pieces.map(({ element }) => (element.closest("table") ?? element).getBoundingClientRect());
  if (boxes().at(-1).bottom - boxes()[0].top > 0.45 * slides.room) return;
  main.style.zoom = 1.3;
  if (boxes().some(({ bottom, right }) => bottom > innerHeight - 20 || right > innerWidth - 20)) main.style.zoom = "";
}

function showSlide(to) {
  if (at < 0) {
    document.body.classList.add("slides");
    document.body.prepend(slideHead); // it stays as it is while what is below grows
    document.getElementById("show-slides").textContent = "End";
    slides = cut();
  }
  at = Math.max(0, Math.min(slides.length - 1, to));
  const slide = slides[at];
  document.querySelector("main").style.zoom = "";
  hideAllBut(slide.pieces);
  slide.pieces.forEach(({ element }) => { if (element.tagName === "LI" && element.parentElement.tagName === "OL") element.value = [...element.parentElement.children].indexOf(element) + 1; });
  fit(slide);
  document.getElementById("slide-title").textContent = slide.title;
  counter.textContent = `${at + 1} of ${slides.length}`;
  scrollTo(0, 0);
  tell();
}

function endSlides() {
  document.body.classList.remove("slides");
  document.querySelector(".contents, .book-cell").before(slideHead);
  document.querySelectorAll(".off-slide").forEach((each) => each.classList.remove("off-slide"));
  document.querySelectorAll("main, .book-cell [data-smaller]").forEach((each) => { each.style.zoom = ""; });
  freeWidths();
  document.getElementById("show-slides").textContent = "Slides";
  slides[at]?.pieces[0].element.scrollIntoView();
  at = -1;
}

// A prediction opens what it had closed, and a window changes its size: the slides are cut anew, from the same place on.
let cutting = 0;
addEventListener("resize", () => {
  if (at < 0) return;
  cancelAnimationFrame(cutting);
  cutting = requestAnimationFrame(() => {
    const { element } = slides[at].pieces[0];
    slides = cut();
    showSlide(slides.findIndex(({ pieces }) => pieces.some((each) => each.element === element)));
  });
});

function tell() {
  if (!speaker || at < 0) return;
  const name = (number) => slides[number] && (slides[number].title || slides[number].names);
  speaker.postMessage({ kafkalearnSlide: { at: at + 1, count: slides.length, title: name(at), next: name(at + 1) ?? "the end" } }, "*");
}

function openNotes() {
  if (notesLink) speaker = open(`${notesLink.href}#speaker`, "kafkalearn-notes", "popup,width=900,height=800");
}

document.getElementById("show-slides").addEventListener("click", () => (at < 0 ? showSlide(0) : endSlides()));
document.getElementById("show-notes").addEventListener("click", openNotes);
document.getElementById("show-notes").hidden = !notesLink;
document.addEventListener("keydown", (event) => {
  if (at < 0 || event.target.closest("input, textarea, select") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest(".kl-player") && event.key !== "n" && event.key !== "b") return;
  if (event.key === "PageDown" || event.key === "n") showSlide(at + 1);
  else if (event.key === "PageUp" || event.key === "b") showSlide(at - 1);
  else if (event.key === "o") openNotes();
  else if (event.key === "Escape") endSlides();
  else return;
  event.preventDefault();
});
addEventListener("message", ({ data, source }) => {
  if (data.kafkalearnNotes && source === speaker) tell();
});
if (location.hash === "#slides") document.fonts.ready.then(() => showSlide(0)); // letters have their widths

window.kafkalearnSlides = { count: () => slides.length, show: showSlide };

// The second window: where the class is, how long it has been, and what the notes say of this section.
if (location.hash === "#speaker") {
  const bar = Object.assign(document.createElement("div"), { className: "speaker" });
  const begun = Date.now();
  let said = { at: 0, count: 0, title: "Turn a slide in the other window.", next: "" };
  const show = () => {
    const minutes = Math.floor((Date.now() - begun) / 60_000);
    bar.textContent = `${said.at} of ${said.count} · ${said.title} · ${minutes} min${said.next ? ` · next: ${said.next}` : ""}`;
  };
  document.querySelector("main").prepend(bar);
  setInterval(show, 10_000);
  addEventListener("message", ({ data }) => {
    if (!data.kafkalearnSlide) return;
    said = data.kafkalearnSlide;
    show();
    const number = /^(\d+) /.exec(said.title)?.[1];
    const isOfIt = (part) => part.textContent.includes(said.title) || (number && new RegExp(`\\bsections? (\\d+ (to|and) )?${number}\\b`, "i").test(part.textContent));
    const parts = [...document.querySelectorAll(".jp-RenderedMarkdown :is(li, tr, p)")];
    const found = parts.filter((part) => part.classList.toggle("of-the-slide", Boolean(isOfIt(part))));
    found.find((part) => part.tagName !== "TR")?.scrollIntoView({ block: "center" });
  });
  show();
  window.opener?.postMessage({ kafkalearnNotes: "ready" }, "*");
}
