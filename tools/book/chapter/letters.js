// Letters of a picture, as large as the picture has room for: on a slide they are read from the last row.

const SAMPLE = /M(-?[\d.]+) (-?[\d.]+)h(14)v(12)/g; // of a fill, in a legend (kafkalearn.drawing.kit)
const CAPITALS = 0.84, APART = 3, ROOM = 8, MOST_MOVED = 48; // of a letter's size: the height that its line needs; units between two texts, left of one that moved, and how far it may

// A text as a box that grows about its middle, from where it is anchored: {left, right, top, bottom} at a size.
function boxOf(text) {
  const style = getComputedStyle(text), size = parseFloat(style.fontSize), { x, y, width, height } = text.getBBox();
  const anchor = { middle: 0.5, end: 1 }[style.textAnchor] ?? 0, at = x + anchor * width, middle = y + height / 2;
  return { text, size, grown: size, weight: style.fontWeight, row: Math.round(middle), column: Math.round(at), isFromLeft: !anchor, moved: { by: 0 }, at(now) {
    const wide = (width * now) / size, left = at - anchor * wide - this.moved.by, half = (CAPITALS * now) / 2;
    return { left, right: left + wide, top: middle - half, bottom: middle + half };
  } };
}

const holds = (outer, inner) => outer.left <= inner.left + 1 && outer.right >= inner.right - 1 && outer.top <= inner.top + 2 && outer.bottom >= inner.bottom - 2;
const meets = (one, other) => one.left < other.right + APART && other.left < one.right + APART && one.top < other.bottom && other.top < one.bottom;

// Texts of one size that stand in a row or below each other, and so look like one thing: they keep one size.
function alike(texts) {
  const groups = [];
  for (const each of texts) {
    const isOfIt = (group) => group.some((other) => other.size === each.size && other.weight === each.weight && (other.row === each.row || other.column === each.column));
    const mine = groups.filter(isOfIt);
    for (const group of mine) groups.splice(groups.indexOf(group), 1);
    groups.push([...mine.flat(), each]);
  }
  return groups;
}

// Grow the letters of a picture to at least `smallest` pixels, or as far as none meets another text or shape, or leaves the
// shape or the picture that it stands in. All grow together, so that none takes all the room.
function growLetters(svg, smallest) {
  const matrix = svg.getScreenCTM();
  if (!matrix || svg.dataset.letters) return; // it is done, or the picture is not shown
  svg.dataset.letters = "grown";
  const wanted = smallest / (Math.hypot(matrix.a, matrix.b) * svg.currentCSSZoom), { x, y, width, height } = svg.viewBox.baseVal;
  const own = (tags) => [...svg.querySelectorAll(tags)].filter((each) => each.closest("svg") === svg); // not of a picture within, which has places of its own
  const texts = own("text").filter((each) => each.textContent.trim() && !each.closest("[transform]")).map(boxOf);
  const shapes = own("rect, circle").map((each) => each.getBBox()).map((box) => ({ left: box.x, right: box.x + box.width, top: box.y, bottom: box.y + box.height, size: box.width * box.height }));
  const samples = own("path[d^=M]").flatMap((each) => [...each.getAttribute("d").matchAll(SAMPLE)].map(([, ...box]) => box.map(Number)))
    .map(([left, top, wide, high]) => ({ left, right: left + wide, top, bottom: top + high }));
  const whole = { left: x + 2, right: x + width - 2, top: y, bottom: y + height, size: Infinity };
  for (const each of texts) {
    const first = each.first = each.at(each.size), isNear = (other) => other !== each && meets(other.at(other.size), first);
    each.frame = [...shapes, whole].filter((shape) => holds(shape, first)).reduce((a, b) => (b.size < a.size ? b : a), whole);
    each.apart = each.isFromLeft && each.frame !== whole ? ROOM / 2 : 0; // of the edge that it grows towards
    each.near = new Set([...texts.filter(isNear), ...[...shapes, ...samples].filter((shape) => meets(shape, first))]); // they were so before
  }
  const fits = (each, now) => {
    const box = each.at(now), { first, moved } = each, { left, right, top, bottom } = each.frame;
    return box.left >= Math.min(left + (moved.by ? ROOM : 0), first.left) && box.right <= Math.max(right - each.apart, first.right) && box.top >= Math.min(top - 2, first.top)
      && box.bottom <= Math.max(bottom + 2, first.bottom)
      && !texts.some((other) => other !== each && !each.near.has(other) && meets(box, other.at(other.grown)))
      && ![...shapes, ...samples].some((shape) => !each.near.has(shape) && meets(box, shape));
  };
  // What begins in one column and would leave its frame on the right begins further left, all of the column, if it has room there.
  const columns = Map.groupBy(texts.filter((each) => each.isFromLeft), ({ text }) => text.getAttribute("x"));
  for (const column of columns.values()) column.forEach((each) => { each.moved = column[0].moved; });
  const fitsFurtherLeft = (group, now) => {
    const by = Math.max(...group.map((each) => each.at(now).right - Math.max(each.frame.right - each.apart, each.first.right)));
    const moved = new Set(group.map((each) => each.moved)), before = [...moved].map((each) => each.by);
    if (by <= 0 || !group.every((each) => each.isFromLeft) || Math.max(...before) + by > MOST_MOVED) return false;
    for (const each of moved) each.by += by;
    if (texts.every((each) => !moved.has(each.moved) || fits(each, each.grown))) return true;
    [...moved].forEach((each, at) => { each.by = before[at]; });
    return false;
  };
  let growing = alike(texts).filter(([{ size }]) => size < wanted);
  while (growing.length) {
    growing = growing.filter((group) => {
      const before = group[0].grown, now = Math.min(wanted, before + 0.5);
      for (const each of group) each.grown = now;
      if (group.every((each) => fits(each, now)) || fitsFurtherLeft(group, now)) return now < wanted;
      for (const each of group) each.grown = before;
      return false;
    });
  }
  for (const { text, size, grown, moved } of texts) {
    if (grown === size && !moved.by) continue;
    text.style.fontSize = `${grown}px`;
    text.style.translate = `${-moved.by}px ${0.35 * (grown - size)}px`; // a line keeps its middle
  }
}

// Pictures of a slide, now and at each step that is shown; what this gives ends it.
function keepLettersLarge(element, smallest) {
  const grow = () => element.querySelectorAll("svg[viewBox]").forEach((each) => each.querySelector("text") && growLetters(each, smallest()));
  const seen = new MutationObserver(grow);
  seen.observe(element, { childList: true, subtree: true });
  if (element.matches("svg[viewBox]")) growLetters(element, smallest());
  grow();
  return () => seen.disconnect();
}

// A picture as it was drawn.
function smallLetters(svg) {
  delete svg.dataset.letters;
  svg.querySelectorAll("text").forEach((each) => Object.assign(each.style, { fontSize: "", translate: "" }));
}
