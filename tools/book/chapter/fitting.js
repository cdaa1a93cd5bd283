// A page fits its paper and its screen.

// A player on paper is its stills: they stand beside it before it takes their place on the screen.
for (const host of document.querySelectorAll("[data-kl-start]")) {
  const still = host.querySelector("img");
  if (still) host.after(Object.assign(still.cloneNode(), { className: "on-paper" }));
}

// What is wider than the screen scrolls by itself: then a key can do so too.
const scrollers = ".jp-RenderedHTMLCommon table, .jp-OutputArea-output, .highlight pre, .kl-stage, .live-shown";
const reachable = () => document.querySelectorAll(scrollers).forEach((each) => {
  if (each.scrollWidth > each.clientWidth + 1) each.tabIndex = 0;
});
addEventListener("load", reachable);
addEventListener("resize", reachable);
document.addEventListener("toggle", reachable, true); // a fold was opened

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
