// A page fits its paper and its screen.

// A player on paper is its stills: they stand beside it before it takes their place on the screen.
for (const host of document.querySelectorAll("[data-kl-start]")) {
  const still = host.querySelector("img");
  if (still) host.after(Object.assign(still.cloneNode(), { className: "on-paper" }));
}

// What is wider than the screen scrolls by itself: then a key can do so too, and it fades where more of it lies.
const scrollers = ".navigation, .jp-RenderedHTMLCommon table, .jp-OutputArea-output, .highlight pre, .live-output, .live-shown, .drawn, .kl-stage";
function showEdges(each) {
  const beyond = /auto|scroll/.test(getComputedStyle(each).overflowX) ? each.scrollWidth - each.clientWidth : 0;
  each.classList.toggle("kl-more-left", beyond > 1 && each.scrollLeft > 4);
  each.classList.toggle("kl-more-right", beyond > 1 && beyond - each.scrollLeft > 4);
  return beyond > 1;
}
function fit() {
  // A picture of a few things is no wider than it was drawn: its letters are large enough.
  document.querySelectorAll(".kl-stage").forEach((each) => {
    const svg = each.querySelector("svg[viewBox]");
    if (svg) each.style.setProperty("--drawn", `${svg.viewBox.baseVal.width}px`);
  });
  document.querySelectorAll(scrollers).forEach((each) => { if (showEdges(each)) each.tabIndex = 0; });
}
addEventListener("load", fit);
addEventListener("resize", fit);
addEventListener("kafkalearn:drawn", fit); // an answer of Python's
document.addEventListener("toggle", fit, true); // a fold was opened
document.addEventListener("scroll", ({ target }) => { if (target.matches?.(scrollers)) showEdges(target); }, { capture: true, passive: true });

// On a wide screen the contents stand open beside the page, and say where the reader is.
const contents = document.querySelector(".contents details");
if (contents) {
  const isWide = matchMedia("(min-width: 90rem)"), setOpen = () => { contents.open = isWide.matches; };
  setOpen();
  isWide.addEventListener("change", setOpen);
  const links = new Map([...contents.querySelectorAll("a")].map((link) => [document.getElementById(decodeURIComponent(link.hash.slice(1))), link]));
  links.delete(null);
  let before = null;
  const say = () => {
    const above = [...links.keys()].filter((heading) => heading.getBoundingClientRect().top < innerHeight / 3), link = links.get(above.at(-1));
    if (link === before || !isWide.matches) return;
    before?.removeAttribute("aria-current");
    link?.setAttribute("aria-current", "location");
    link?.scrollIntoView({ block: "nearest" });
    before = link;
  };
  addEventListener("scroll", say, { passive: true });
}
