
// What is alive where a kernel, or a page's Python, answers: a picture that can be touched (kafkalearn.drawing.touching),
// what moves between two frames, and the words of the sentence marked as the things in the picture. The frames stay as
// they are: all of it lies over them, and is found by what they show, their words and shapes.

const MOVE_MS = 300;
const NAMED = /^(?:[A-Za-z][\p{L}\w.-]*[ -]?\d+(?:-\d+)?|HW|LEO|ISR|LSO|[A-Z]|[A-Z]\d*)$/u; // broker 2, c1, orders-0, HW, B
const KINDS_NAMED = /^(?:broker|partition|consumer|member) \S+?(?=[\s:,]|$)/; // of "broker 2 leads 22" in a legend
const MARKS = /^(HW|LEO|ISR|LSO)\b/; // marks of a log: the number after them changes
const asksForStillness = matchMedia("(prefers-reduced-motion: reduce)");
let isStill = null; // what the reader has said on this page; nothing yet: what the system asks for

const moves = () => !(isStill ?? asksForStillness.matches);
const wordsOf = (element) => element.textContent.trim();
const nameOf = (words) => (MARKS.exec(words) ?? KINDS_NAMED.exec(words))?.[0] ?? words;
const middle = ({ x, y, width, height }) => ({ x: x + width / 2, y: y + height / 2 });

// What was found out about a picture, which never changes: asked for once, and only if somebody wants to know.
function remembered(find) {
  const known = new WeakMap();
  return (svg) => known.get(svg) ?? known.set(svg, find(svg)).get(svg);
}

// --- things in a picture: a text that names one, and the shape that it stands in or beside

const boxesIn = remembered((svg) => [...svg.querySelectorAll("rect, path, circle, ellipse, polygon")]
  .filter((each) => each.getAttribute("fill") !== "none" || each.localName === "rect").map((each) => ({ each, around: each.getBBox() })));
const shapesIn = (svg) => (svg.getClientRects().length ? boxesIn(svg) : []); // what is hidden has no size yet

function shapeOf(svg, label) {
  const box = label.getBBox(), { x, y } = middle(box), point = new DOMPoint(x, y);
  if (MARKS.test(wordsOf(label))) {
    const anchor = Number(label.getAttribute("x"));
    const mark = [...svg.querySelectorAll("line")].filter((each) => each.x1.baseVal.value === each.x2.baseVal.value && Math.abs(each.x1.baseVal.value - anchor) < 5)
      .sort((a, b) => Math.abs(middle(a.getBBox()).y - y) - Math.abs(middle(b.getBBox()).y - y))[0];
    if (mark) return { element: mark, isMark: true, box };
    const pin = [...svg.querySelectorAll("polygon")].find((each) => { // a mark on the log's line, beside its words
      const around = each.getBBox(), gap = Math.max(box.x - around.x - around.width, around.x - box.x - box.width);
      return gap >= 0 && gap < 20 && around.y < box.y + box.height && around.y + around.height > box.y;
    });
    if (pin) return { element: pin, isMark: true, box };
  }
  const beside = new DOMPoint(box.x - 28, y); // where a legend has its sample
  let found = null, sample = null;
  for (const { each, around } of shapesIn(svg)) {
    if (each.localName === "path" && each.isPointInFill(beside)) sample = each;
    if (around.width >= svg.viewBox.baseVal.width && around.height >= svg.viewBox.baseVal.height * 0.9) continue; // the ground
    if (x < around.x || x > around.x + around.width || y < around.y || y > around.y + around.height) continue;
    if (each.localName !== "rect" && !each.isPointInFill(point)) continue;
    if (each.compareDocumentPosition(label) & Node.DOCUMENT_POSITION_FOLLOWING) found = each;
  }
  const row = found || sample ? null : rowOf(svg, box);
  return { element: found ?? sample ?? row?.line ?? null, isMark: false, row: row?.box, box: found?.localName === "rect" ? found.getBBox() : box };
}

// What a name left of a log stands for: all of it, as far as the line that its records stand on.
function rowOf(svg, { x, y, width, height }) {
  const below = (line) => line.y1.baseVal.value - y;
  const line = [...svg.querySelectorAll("line")].filter((each) => below(each) > 0 && below(each) < 4 * height
    && each.y1.baseVal.value === each.y2.baseVal.value && each.x1.baseVal.value >= x + width && each.x2.baseVal.value - x > svg.viewBox.baseVal.width / 3)
    .sort((a, b) => below(a) - below(b))[0];
  return line && { line, box: { x, y: Math.min(y, line.y1.baseVal.value - 2 * height), width: line.x2.baseVal.value - x, height: Math.max(2 * height, below(line)) } };
}

// Each name with its labels, the first of them the one that stands for it.
const thingsIn = remembered((svg) => {
  const things = new Map();
  for (const label of svg.querySelectorAll("text, tspan")) {
    const words = wordsOf(label), name = nameOf(words);
    if (label.querySelector?.("tspan") || !NAMED.test(name) || words.length > 32) continue;
    things.set(name, [...(things.get(name) ?? []), label]);
  }
  return things;
});

// --- what moves: the new frame is there at once, and what is new in it comes from where it was

const LEAVES = "rect, line, circle, text, path, polygon";
const kindOf = (element) => {
  const own = (name) => element.getAttribute(name) ?? "";
  if (element.localName === "text") return `text ${nameOf(wordsOf(element)).replace(/\d+/g, "#")} ${own("font-size")}`;
  if (element.localName === "line") return `line ${own("stroke-dasharray")} ${Number(own("y2")) - Number(own("y1"))}`;
  return `${element.localName} ${own("rx")} ${own("width")} ${own("height")} ${(own("d").match(/[A-Za-z]/g) ?? []).join("")}`;
};

// Where it is as its attributes say, of the kinds that move: no layout is needed, so a picture that is gone can be asked too.
function placeOf(element) {
  const [x, y, x2, y2, width, height] = ["x", "y", "x2", "y2", "width", "height"].map((name) => Number(element.getAttribute(name)));
  if (element.localName !== "line") return { x: x + width / 2, y: y + height / 2 };
  return { x: (Number(element.getAttribute("x1")) + x2) / 2, y: (Number(element.getAttribute("y1")) + y2) / 2 };
}

const leavesOf = remembered((svg) => [...svg.querySelectorAll(LEAVES)].map((element) => ({ element, text: element.outerHTML })));

function slide(element, from, to, ms) {
  const by = `translate(${from.x - to.x}px, ${from.y - to.y}px)`;
  element.animate([{ transform: by }, { transform: "none" }], { duration: ms, easing: "ease-in-out" });
}

function ghost(svg, from, to, words, ms, delay = 0) {
  const make = (name, attributes) => {
    const made = document.createElementNS(svg.namespaceURI, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };
  const width = Math.max(26, words.length * 9.5 + 10);
  const group = make("g", { class: "kl-ghost", "aria-hidden": "true", style: "pointer-events: none" });
  group.append(make("rect", { x: to.x - width / 2, y: to.y - 13, width, height: 26, rx: 4, fill: "#fdfcf8", stroke: "#b3320a", "stroke-width": 1.5 }));
  if (words) group.append(Object.assign(make("text", { x: to.x, y: to.y + 5, "text-anchor": "middle", "font-size": 15 }), { textContent: words }));
  svg.append(group);
  const start = `translate(${from.x - to.x}px, ${from.y - to.y}px)`;
  const moving = group.animate([{ transform: start, opacity: 1 }, { transform: "none", opacity: 1 }], { duration: ms, delay, fill: "backwards", easing: "ease-in-out" });
  if (delay) group.animate([{ opacity: 0 }, { opacity: 0 }], { duration: delay });
  moving.onfinish = moving.oncancel = () => group.remove();
}

// A request goes from who asks to the leader, and its answer comes back: where the sentence says so and both are drawn.
function request(svg, sentence, ms) {
  const asks = /\b(broker \d+)\b[^.]{0,30}\bfetch/i.exec(sentence)?.[1].toLowerCase();
  if (!asks) return [];
  const labels = [...svg.querySelectorAll("text")];
  const from = labels.find((each) => wordsOf(each) === asks), to = labels.find((each) => wordsOf(each) === "leader");
  if (!from || !to) return [];
  const ends = [from, to].map((each) => { const { x, y } = middle(each.getBBox()); return { x: x + 75, y }; });
  return [() => ghost(svg, ends[0], ends[1], "fetch", ms * 0.5), () => ghost(svg, ends[1], ends[0], "answer", ms * 0.5, ms * 0.5)];
}

// What begins to move: functions, so that all is measured before the first of them changes anything.
function moveBetween(old, svg, sentence, ms) {
  const [were, are] = [leavesOf(old), leavesOf(svg)].map((leaves) => new Map(leaves.map((each) => [each.text, each.element])));
  const gone = leavesOf(old).filter((each) => !are.has(each.text)).map(({ element }) => ({ element, kind: kindOf(element), at: placeOf(element) }));
  const fresh = leavesOf(svg).filter((each) => !were.has(each.text)), begin = [];
  if (fresh.length + gone.length > 400) return []; // another picture
  for (const { element } of fresh) {
    const kind = kindOf(element), at = placeOf(element), words = element.localName === "text" ? wordsOf(element) : "";
    const far = (other) => Math.hypot(other.at.x - at.x, 3 * (other.at.y - at.y)); // a mark stays in its row
    const isNear = (other) => Math.abs(other.at.y - at.y) < 6 || (words && words.length < 8 && wordsOf(other.element) === words);
    const before = gone.filter((other) => other.kind === kind && isNear(other)).sort((a, b) => far(a) - far(b))[0];
    if (before && (element.localName === "text" || element.localName === "line" || element.localName === "rect")) {
      gone.splice(gone.indexOf(before), 1);
      if (far(before) > 1) begin.push(() => slide(element, before.at, at, ms));
    } else if (words && words.length <= 6) {
      const copied = [...were].filter(([text, other]) => other.localName === "text" && wordsOf(other) === words && are.has(text))
        .map(([text, other]) => ({ stays: are.get(text), at: placeOf(other) })).sort((a, b) => far(a) - far(b))[0]; // such as a record in the leader's log
      if (copied && !/^[\d–]*$/.test(words)) {
        const [from, to] = [copied.stays, element].map((each) => middle(each.getBBox()));
        begin.push(() => ghost(svg, from, to, words, ms));
      }
      begin.push(() => element.animate([{ opacity: 0 }, { opacity: copied ? 0 : 0.5 }, { opacity: 1 }], { duration: ms }));
    } else begin.push(() => element.animate([{ opacity: 0 }, { opacity: 1 }], { duration: ms }));
  }
  return [...begin, ...request(svg, sentence, ms)];
}

const stopMoving = (svg) => svg?.getAnimations?.({ subtree: true }).forEach((each) => each.finish());

// --- the sentence: each name in it looks like the thing, and pointing at one marks the other; a word that means what a
// colour of the picture means (SAID, of kafkalearn.drawing.tokens, as LEADER) has that colour: a fill lies under it, the leader's is its own

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

// Each word that means what a colour of the picture means, with an element that has it.
function meaningsIn(svg) {
  const found = new Map();
  for (const [colour, words] of Object.entries(SAID)) {
    const element = svg.querySelector(`:is(rect, path, circle, polygon, text)[fill="${colour}"]`);
    for (const word of element ? words : []) found.set(word, element);
  }
  return found;
}

function markWords(caption, svg, point) {
  const things = thingsIn(svg), names = [...things.keys()].sort((a, b) => b.length - a.length), meanings = meaningsIn(svg);
  const marked = [...names, ...[...meanings.keys()].sort((a, b) => b.length - a.length)];
  if (!marked.length || !caption.textContent) return;
  const pattern = new RegExp(`(?<![\\p{L}\\w-])(?:${marked.map(escaped).join("|")})(?![\\p{L}\\w-])`, "giu");
  const words = caption.textContent, made = document.createDocumentFragment();
  let end = 0, count = 0;
  for (const found of words.matchAll(pattern)) {
    const name = names.find((each) => each.toLowerCase() === found[0].toLowerCase()), meaning = name ? null : meanings.get(found[0].toLowerCase());
    if (meaning) {
      const isOfLetters = meaning.getAttribute("fill") === LEADER, className = isOfLetters ? "kl-said" : "kl-said kl-under";
      const said = Object.assign(document.createElement("span"), { className, textContent: found[0] });
      said.style[isOfLetters ? "color" : "backgroundColor"] = getComputedStyle(meaning).fill;
      made.append(words.slice(end, found.index), said);
      end = found.index + found[0].length;
      continue;
    }
    if ((name.length === 1 && found[0] !== name) || count === 12) continue;
    const { element, isMark, row } = shapeOf(svg, things.get(name)[0]), style = element ? getComputedStyle(element) : null;
    const mark = Object.assign(document.createElement("mark"), { className: "kl-word", textContent: found[0], tabIndex: 0 });
    mark.dataset.thing = name;
    if (style) {
      const isDashed = style.strokeDasharray !== "none", line = style.stroke === "none" ? style.fill : style.stroke;
      const width = Math.min(2, Math.max(1.5, parseFloat(style.strokeWidth) || 1.5));
      mark.style.setProperty("--line", `${width}px ${isDashed ? "dashed" : "solid"} ${line}`);
      if (!isMark && !row && style.fill !== "none" && !element.getAttribute("fill")?.startsWith("url")) mark.style.backgroundColor = style.fill;
    }
    mark.classList.toggle("kl-mark-of-log", isMark);
    mark.classList.toggle("kl-row", Boolean(row));
    const on = () => point(name), off = () => point(null);
    mark.addEventListener("pointerenter", on);
    mark.addEventListener("pointerleave", off);
    mark.addEventListener("focus", on);
    mark.addEventListener("blur", off);
    made.append(words.slice(end, found.index), mark);
    end = found.index + found[0].length;
    count += 1;
  }
  if (end) caption.replaceChildren(made, words.slice(end));
}

// --- the whole: a player, and all of this around it

function renderLive(given) {
  const { model, el } = given, unmount = render(given);
  const [stage, caption, foot, head] = [".kl-stage", ".kl-caption", ".kl-foot", ".kl-head"].map((each) => el.querySelector(each));
  const make = (name, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };
  const over = make("div", { className: "kl-over" }), next = make("div", { className: "kl-next" });
  stage.before(over);
  foot.after(next);
  const motion = make("button", { type: "button", className: "kl-motion" });
  const sayMotion = () => {
    motion.textContent = moves() ? "Motion on" : "Motion off";
    motion.title = "Whether things move between two steps";
    motion.setAttribute("aria-pressed", String(moves()));
  };
  motion.addEventListener("click", () => { isStill = moves(); if (isStill) stopMoving(picture()); sayMotion(); });
  sayMotion();
  head.insertBefore(motion, head.querySelector("[data-do=save]"));

  const picture = () => stage.querySelector("svg");
  let before = null, value = model.get("value"), text = null, menu = null; // before: the picture that was seen last
  let parsed = {}, frame = null; // what is read of the animation; the browser's next painting, if it is waited for
  let coming = null; // the line that was asked for and is not there yet

  // What lies over the picture goes with it, where it is wider than its stage and is moved sideways.
  const pan = () => { over.style.transform = stage.scrollLeft ? `translateX(${-stage.scrollLeft}px)` : ""; };
  stage.addEventListener("scroll", pan, { passive: true });

  // Where a part of the picture lies, in pixels of the stage.
  function onPage(box) {
    pan();
    const svg = picture(), place = svg.getBoundingClientRect(), around = over.getBoundingClientRect(), view = svg.viewBox.baseVal;
    const scale = Math.min(place.width / view.width, place.height / view.height);
    const left = place.left - around.left + (place.width - view.width * scale) / 2, top = place.top - around.top + (place.height - view.height * scale) / 2;
    return { left: left + box.x * scale, top: top + box.y * scale, width: box.width * scale, height: box.height * scale };
  }
  function bringIntoView(place) {
    const { left, right } = place.getBoundingClientRect(), seen = stage.getBoundingClientRect();
    if (left < seen.left) stage.scrollLeft -= seen.left - left;
    else if (right > seen.right) stage.scrollLeft += Math.min(right - seen.right, left - seen.left);
  }
  const put = (element, box) => { for (const [name, at] of Object.entries(onPage(box))) element.style[name] = `${at}px`; };

  function point(name) {
    over.querySelectorAll(".kl-lit").forEach((each) => each.remove());
    caption.querySelectorAll(".kl-word").forEach((each) => each.classList.toggle("kl-lit-word", each.dataset.thing === name));
    for (const label of (name && picture() && thingsIn(picture()).get(name)) ?? []) {
      const lit = over.appendChild(make("div", { className: "kl-lit" }));
      const { row, box } = shapeOf(picture(), label), { x, y, width, height } = row ?? box;
      put(lit, { x: x - 3, y: y - 3, width: width + 6, height: height + 6 });
    }
  }

  // --- touching

  const parse = () => {
    const animated = model.get("_animation");
    if (parsed.animated !== animated) {
      const { touch, loop } = JSON.parse(animated);
      parsed = { animated, touch, loop };
    }
    return parsed;
  };
  const touch = () => parse().touch;
  const close = () => { menu?.remove(); menu = null; };
  const keep = (...wanted) => {
    for (const each of [...wanted, el.querySelector(".kl-bar input"), next.querySelector("button")]) {
      each?.focus({ preventScroll: true });
      if (each && document.activeElement === each) return;
    }
  };

  // A second move that is pressed before the first has come goes after it, and does not take its place.
  // The keys stay here: what had the focus goes with the step that it belonged to.
  function happen(move) {
    if (menu?.contains(document.activeElement)) menu.place.focus({ preventScroll: true });
    else if (!el.contains(document.activeElement)) keep();
    const { line } = touch(), field = el.querySelector(".kl-controls input[type=text]");
    const done = coming !== null && field.value === coming ? coming.split(" > ") : line ? line.split(" > ").slice(0, model.get("value")) : [];
    close();
    play([...done, move].join(" > "));
  }

  // Another line than the one on show: with a move more, without its last one, or none at all.
  function play(line) {
    const field = el.querySelector(".kl-controls input[type=text]");
    coming = field.value = line;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }

  async function copy(address, button) {
    try { await navigator.clipboard.writeText(address); } catch { // a page that is a file has no clipboard in some browsers
      const field = el.appendChild(make("textarea", { value: address }));
      field.select();
      document.execCommand("copy");
      field.remove();
      button.focus({ preventScroll: true });
    }
    button.textContent = "Copied";
  }

  // Below the moves: the last one taken back, all of them, and the run as an address in the book.
  function againRow({ line, link }) {
    const moved = line ? line.split(" > ") : [], row = make("div", { className: "kl-address" });
    const add = (name, title, does, isOff) => {
      const button = make("button", { type: "button", textContent: name, title, disabled: isOff });
      button.dataset.again = name;
      button.addEventListener("click", () => does(button));
      row.append(button);
    };
    add("Undo", "Take the last move back", () => play(moved.slice(0, -1).join(" > ")), !moved.length);
    add("Reset", "Begin anew", () => play(""), !moved.length);
    const address = link && link + encodeURIComponent(line).replaceAll("%20", "+");
    if (address) add("Copy link", address, (button) => copy(address, button), false);
    return row;
  }

  const offer = (move) => {
    const means = touch().means[move] ?? "", button = make("button", { type: "button", title: means }, make("strong", { textContent: move }));
    if (means) button.append(make("span", { className: "kl-means", textContent: means }));
    button.dataset.move = move;
    button.addEventListener("click", () => happen(move));
    return button;
  };

  function open(name, possible, place) {
    close();
    menu = make("div", { className: "kl-menu" }, make("p", { textContent: `${name} …` }), ...possible.map(offer));
    menu.place = place;
    menu.setAttribute("role", "group");
    menu.setAttribute("aria-label", `What may happen to ${name}`);
    menu.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      event.preventDefault();
      close();
      place.focus();
    });
    const { left, top, width } = place.style;
    over.append(menu);
    const first = stage.scrollLeft, last = first + over.clientWidth - menu.offsetWidth - 4;
    menu.style.left = `${Math.max(first, Math.min(parseFloat(left) + Math.min(parseFloat(width), 180) / 2, last))}px`;
    menu.style.top = `${parseFloat(top) + 30}px`;
    menu.querySelector("button")?.focus({ preventScroll: true });
  }

  function showTouch() {
    const touched = touch(), focused = document.activeElement, isHere = el.contains(focused);
    const nameOfPart = (part) => part.dataset.move ?? part.dataset.place ?? part.dataset.again;
    const offered = () => [...next.querySelectorAll("[data-move]")], at = offered().indexOf(focused);
    close();
    over.querySelectorAll(".kl-place").forEach((each) => each.remove());
    next.hidden = !touched;
    el.classList.toggle("kl-touched", Boolean(touched));
    if (!touched) return;
    const { moves: possible, broken } = touched.steps[model.get("value")], svg = picture(), things = thingsIn(svg);
    const about = new Map();
    for (const move of possible) for (const name of touched.things[move] ?? []) about.set(name, [...(about.get(name) ?? []), move]);
    for (const [name, some] of about) {
      const label = things.get(name)?.[0] ?? [...svg.querySelectorAll("text")].find((each) => wordsOf(each) === name);
      if (!label) continue;
      const place = make("button", { type: "button", className: "kl-place", title: `${name}: what may happen` });
      place.dataset.place = name;
      place.setAttribute("aria-label", `${name}: what may happen`);
      place.addEventListener("click", (event) => { event.stopPropagation(); open(name, some, place); });
      place.addEventListener("pointerenter", () => point(name));
      place.addEventListener("pointerleave", () => point(null));
      place.addEventListener("focus", () => bringIntoView(place));
      over.append(place);
      const { x, y, width, height } = shapeOf(svg, label).box;
      put(place, { x: x - 4, y: y - 4, width: width + 8, height: height + 8 });
    }
    const said = make("p", { className: broken.length ? "kl-wrong" : "", textContent: broken.length ? `Promise${broken.length > 1 ? "s" : ""} broken: ${broken.join("; ")}.` : touched.said });
    said.setAttribute("role", "status");
    if (broken.length && touched.said.startsWith("Promise broken in")) said.textContent = touched.said;
    const group = make("div", { className: "kl-moves" }, ...possible.map(offer));
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", "What happens next");
    next.replaceChildren(said, group, againRow(touched));
    const first = over.querySelector(".kl-place");
    const name = first?.dataset.place, called = NAMED.test(name) ? name : `“${name}”`; // other words of a picture are quoted
    if (!touched.line) said.append(first ? ` Click ${called}, or choose what happens.` : " Choose what happens.");
    if (!touched.line && first) {
      if (!el.dataset.hasInvited) first.classList.add("kl-invites"); // once
      el.dataset.hasInvited = "";
    }
    if (isHere && !focused.isConnected && nameOfPart(focused)) { // the same again; else what has taken its place; else the slider
      const same = [...el.querySelectorAll("[data-place], .kl-next [data-move], .kl-next [data-again]:enabled")].find((each) => nameOfPart(each) === nameOfPart(focused));
      keep(same, at < 0 ? null : offered()[Math.min(at, offered().length - 1)]);
    }
    fit();
  }

  // The picture has the room that the rest leaves in the window, so that a board is seen whole; for the highest rest so far,
  // so that the picture is not another size at each step.
  let rest = 0;
  function fit() {
    if (!stage.offsetHeight) return;
    const seen = el.closest(".jp-WindowedPanel-outer")?.clientHeight ?? innerHeight;
    rest = Math.max(rest, el.offsetHeight - stage.offsetHeight);
    el.style.setProperty("--kl-room", `${seen - rest}px`);
  }
  const refit = () => { rest = 0; if (touch()) fit(); };
  addEventListener("resize", refit);

  // What ends in dots says how far Python is with the answer.
  const heard = () => {
    const { asked, message = "" } = JSON.parse(model.get("_answer") || "{}");
    if (asked === JSON.parse(model.get("_values")).asked && !message.endsWith("…")) coming = null;
  };
  model.on("change:_answer", heard);

  // --- each new frame

  // A word that has the keys goes with its sentence: they stay with the same word of the next, or with the slider.
  let read = null;
  caption.addEventListener("focusin", ({ target }) => { read = target.dataset.thing ?? null; });
  caption.addEventListener("focusout", () => setTimeout(() => { if (!caption.contains(document.activeElement)) read = null; }));

  function framed() {
    cancelAnimationFrame(frame);
    const svg = picture(), now = model.get("value"), animated = model.get("_animation");
    if (!svg) return;
    if (animated !== text) goRound(el, parse().loop);
    const isNext = now === value + 1 || (animated !== text && text !== null && now > 0 && el.classList.contains("kl-touched"));
    const ms = Math.min(MOVE_MS, 800 / Number(el.querySelector(".kl-bar select").value || 1));
    point(null);
    if (svg.getClientRects().length) {
      const begin = isNext && before && moves() ? moveBetween(before, svg, caption.textContent, ms) : [];
      before = svg;
      markWords(caption, svg, point);
      if (read && document.activeElement === document.body) keep([...caption.querySelectorAll(".kl-word")].find((each) => each.dataset.thing === read));
      begin.forEach((each) => each());
    } else before = null;
    [value, text] = [now, animated];
    showTouch();
  }

  // The new picture is in the page at once; what lies over it comes as the browser paints both. The keys do not wait.
  const observer = new MutationObserver((records) => {
    if (!records.some(({ addedNodes }) => [...addedNodes].some((each) => each.localName === "svg"))) return;
    cancelAnimationFrame(frame);
    if (read) framed();
    else frame = requestAnimationFrame(framed);
  });
  observer.observe(stage, { childList: true });
  const resized = new ResizeObserver(() => { if (touch()) showTouch(); if (!before) framed(); });
  resized.observe(stage);
  // The words have the colours that the things have now: in JupyterLab's other theme, or as the system goes dark, they are others.
  const inTheDark = matchMedia("(prefers-color-scheme: dark)"), repaint = () => { if (before) markWords(caption, picture(), point); };
  const themed = new MutationObserver(repaint);
  themed.observe(document.body, { attributeFilter: ["data-jp-theme-light"] });
  inTheDark.addEventListener("change", repaint);
  stage.addEventListener("click", () => { close(); stopMoving(picture()); });
  el.addEventListener("keydown", (event) => { if (event.key === "Escape") stopMoving(picture()); }, true);
  stage.addEventListener("pointermove", (event) => {
    const label = event.target.closest?.("text");
    const name = label && nameOf(wordsOf(label));
    if (name !== stage.dataset.pointed) {
      stage.dataset.pointed = name ?? "";
      caption.querySelectorAll(".kl-word").forEach((each) => each.classList.toggle("kl-lit-word", each.dataset.thing === name));
    }
  });
  framed();

  return () => {
    model.off("change:_answer", heard);
    removeEventListener("resize", refit);
    observer.disconnect();
    cancelAnimationFrame(frame);
    resized.disconnect();
    themed.disconnect();
    inTheDark.removeEventListener("change", repaint);
    unmount?.();
  };
}

export default { render: renderLive };
