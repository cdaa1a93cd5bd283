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
