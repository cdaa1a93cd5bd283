// A picture that an output shows as an image is drawn in the page instead, as players are and as the book has it: with the
// letters of the page, in the dark with the dark's colours, and with parts that a question may ask to click.
// What is no picture of ours, but has scripts, links or styles in it, stays the image it is.

const IMAGE = "img[src^='data:image/svg+xml;base64,']";
const SHAPES = new Set(["svg", "g", "rect", "line", "circle", "ellipse", "path", "polygon", "polyline", "text", "tspan", "title"]);
const isHarmless = (element) => SHAPES.has(element.localName)
  && element.getAttributeNames().every((name) => !/^on|href$/i.test(name) && (name !== "style" || element.getAttribute(name) === "white-space:pre"));

function draw(image) {
  const bytes = Uint8Array.from(atob(image.src.split(",")[1]), (each) => each.charCodeAt(0));
  const { documentElement } = new DOMParser().parseFromString(new TextDecoder().decode(bytes), "image/svg+xml");
  if (![documentElement, ...documentElement.querySelectorAll("*")].every(isHarmless)) return;
  const drawing = document.importNode(documentElement, true);
  drawing.style.display = "block";
  image.replaceWith(drawing);
}

export function drawPictures(place) {
  const all = (from) => from.querySelectorAll?.(`.jp-OutputArea ${IMAGE}`).forEach(draw);
  all(place);
  new MutationObserver((records) => {
    for (const { addedNodes } of records) for (const node of addedNodes) {
      if (node.matches?.(IMAGE) && node.closest(".jp-OutputArea")) draw(node);
      else all(node);
    }
  }).observe(place, { childList: true, subtree: true });
}
