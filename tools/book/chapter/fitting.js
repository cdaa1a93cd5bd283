// A page fits its paper and its screen.

// A player on paper is its stills: they stand beside it before it takes their place on the screen.
for (const host of document.querySelectorAll("[data-kl-start]")) {
  const still = host.querySelector("img");
  if (still) host.after(Object.assign(still.cloneNode(), { className: "on-paper" }));
}

// Nor does paper wait for a click: what was to be predicted is shown, and folded again afterwards.
const opened = [];
addEventListener("beforeprint", () => {
  opened.push(...document.querySelectorAll("details.prediction:not([open])"));
  opened.forEach((each) => { each.open = true; });
});
addEventListener("afterprint", () => opened.splice(0).forEach((each) => { each.open = false; }));

// What is wider than the screen scrolls by itself: then a key can do so too.
const scrollers = ".jp-RenderedHTMLCommon table, .jp-OutputArea-output, .highlight pre, .kl-stage, .live-shown";
const reachable = () => document.querySelectorAll(scrollers).forEach((each) => {
  if (each.scrollWidth > each.clientWidth + 1) each.tabIndex = 0;
});
addEventListener("load", reachable);
addEventListener("resize", reachable);
document.addEventListener("toggle", reachable, true); // a fold was opened
