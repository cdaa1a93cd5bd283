// The player, below its controls (controls.js stands before it in one module): for the notebook, which takes the
// default export as an anywidget, and for the static page, which calls mountAll().
// All frames come at once, so that a step is a swap of SVG in the browser and asks nobody.

const SPEEDS = [0.5, 1, 2, 4, 8]; // frames per second
const MARK = "#b3320a"; // what happens now, in every picture: kafkalearn.drawing.svg
const KEY_STEPS = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 };
const ICONS = {
  first: "M2 5h3v14H2zM13 5v14L5 12zM22 5v14l-8-7z",
  back: "M15 5v14L5 12zM17 5h3v14h-3z",
  play: "M7 4v16l12-8z",
  pause: "M6 5h4v14H6zM14 5h4v14h-4z",
  forward: "M9 5v14l10-7zM4 5h3v14H4z",
  last: "M19 5h3v14h-3zM11 5v14l8-7zM2 5v14l8-7z",
  save: "M11 3h2v9h4l-5 5-5-5h4zM4 19h16v2H4z",
  screen: "M3 3h7v2H5v5H3zM14 3h7v7h-2V5h-5zM3 14h2v5h5v2H3zM19 14h2v7h-7v-2h5z",
};

function icon(name) {
  return `<svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true"><path d="${ICONS[name]}"/></svg>`;
}

const PLAY = `${icon("play")}<span>Play</span>`;
const PAUSE = `${icon("pause")}<span>Pause</span>`;

function button(name, label) {
  return `<button type="button" data-do="${name}" title="${label}" aria-label="${label}">${icon(name)}</button>`;
}

const HEAD =
  `<span class="kl-title"></span><span class="kl-hint kl-outside">press p, then ← → step it</span>` +
  `<span class="kl-hint kl-inside">← → step, space plays, f full screen, Esc leaves</span>` +
  button("save", "Save this picture as SVG (s)") + button("screen", "Full screen (f)");

const BAR =
  button("first", "First step (Home)") + button("back", "Step back (left arrow)") +
  `<button type="button" data-do="play" title="Space">${PLAY}</button>` +
  button("forward", "Step forward (right arrow)") + button("last", "Last step (End)") +
  `<input type="range" min="0" step="1" aria-label="Step" data-lm-suppress-shortcuts="true"><output></output>` +
  `<select aria-label="Speed">${SPEEDS.map((speed) => `<option value="${speed}">${speed} a second</option>`).join("")}</select>`;

// A frame is pairs: the number of its next line, and how many lines follow on it.
function frameSvg(animation, index) {
  const runs = animation.frames[index];
  let svg = "";
  for (let at = 0; at < runs.length; at += 2) {
    svg += animation.lines.slice(runs[at], runs[at] + runs[at + 1]).join("\n") + "\n";
  }
  return svg;
}

// The player that the key "p" means: in JupyterLab the one in or above the active cell, else the one in mid-window.
function nearestPlayer() {
  const shown = [...document.querySelectorAll(".kl-player")].filter((each) => each.getClientRects().length);
  const cell = [...document.querySelectorAll(".jp-Notebook .jp-Cell.jp-mod-active")].find((each) => each.getClientRects().length);
  const follows = (each) => cell.contains(each) || each.compareDocumentPosition(cell) & Node.DOCUMENT_POSITION_FOLLOWING;
  if (cell && shown.some(follows)) return shown.filter(follows).at(-1);
  const offset = (each) => Math.abs(each.getBoundingClientRect().top + each.offsetHeight / 2 - innerHeight / 2);
  return shown.reduce((best, each) => (best && offset(best) <= offset(each) ? best : each), null);
}

function isTypedInto(element) {
  return element.closest?.("input, textarea, select, [contenteditable=true], .cm-editor") != null;
}

function save(name, svg) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  link.download = `${name.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 80) || "picture"}.svg`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function render({ model, el }) {
  el.classList.add("kl-player", "tex2jax_ignore", "mathjax_ignore");
  el.innerHTML =
    `<div class="kl-controls" role="group" aria-label="Values"></div><div class="kl-head">${HEAD}</div>` +
    `<div class="kl-stage"></div><div class="kl-foot">` +
    `<div class="kl-caption" aria-live="polite" aria-atomic="true"></div><div class="kl-bar" role="group">${BAR}</div></div>`;
  const find = (selector) => el.querySelector(selector);
  const [stage, title, caption, bar, slider, count, speed, playButton, screenButton] =
    [".kl-stage", ".kl-title", ".kl-caption", ".kl-bar", ".kl-bar input", ".kl-bar output", ".kl-bar select",
      "[data-do=play]", "[data-do=screen]"].map(find);
  let animation, last, index, timer = null, isWide = false; // whether the picture is wider than its stage

  function show() {
    stage.innerHTML = frameSvg(animation, index);
    caption.textContent = animation.captions[index];
    count.textContent = `${index} of ${last}`;
    slider.value = index;
    slider.setAttribute("aria-valuetext", `step ${index} of ${last}`);
    if (isWide) bringMarkedIntoView();
  }

  // To ask for a size lays the page out at once: it is asked when the stage has another one, and not in each step.
  function measure() {
    const wasWide = isWide;
    isWide = stage.scrollWidth > stage.clientWidth + 1;
    if (isWide && !wasWide) bringMarkedIntoView();
    showEdges();
  }

  // Where more of a wide picture lies beyond an edge, it fades towards that edge.
  function showEdges() {
    const left = stage.scrollLeft, beyond = stage.scrollWidth - stage.clientWidth - left;
    stage.classList.toggle("kl-more-left", left > 4);
    stage.classList.toggle("kl-more-right", beyond > 4);
  }

  // Where the picture is wider than the screen, what the sentence speaks of is marked, and is moved into its middle.
  function bringMarkedIntoView() {
    const boxes = [...stage.querySelectorAll(`:is([stroke="${MARK}"], [fill="${MARK}"])`)].map((each) => each.getBoundingClientRect());
    if (!boxes.length) return;
    const left = Math.min(...boxes.map((each) => each.left)), right = Math.max(...boxes.map((each) => each.right));
    const { left: edge, width } = stage.getBoundingClientRect();
    const to = right - left < width ? (left + right) / 2 : left + width / 2 - 8;
    stage.scrollLeft += to - edge - width / 2;
  }

  function go(to) {
    const wanted = Math.max(0, Math.min(last, to));
    if (wanted === index) return;
    index = wanted;
    show();
    model.set("value", index);
    model.save_changes();
  }

  function pause() {
    clearInterval(timer);
    timer = null;
    playButton.innerHTML = PLAY;
    caption.setAttribute("aria-live", "polite");
  }

  function tick() {
    go(index + 1);
    if (index === last) pause();
  }

  function play() {
    if (index === last) go(0);
    playButton.innerHTML = PAUSE;
    caption.setAttribute("aria-live", "off"); // a screen reader could not keep up
    timer = setInterval(tick, 1000 / Number(speed.value));
  }

  const actions = {
    first: () => go(0),
    back: () => go(index - 1),
    play: () => (timer === null ? play() : pause()),
    forward: () => go(index + 1),
    last: () => go(last),
    save: () => save(last ? `${animation.title} step ${index}` : animation.title, frameSvg(animation, index)),
    screen: () => (document.fullscreenElement === el ? document.exitFullscreen() : el.requestFullscreen()),
  };

  function load() {
    if (timer !== null) pause();
    animation = JSON.parse(model.get("_animation"));
    last = animation.frames.length - 1;
    index = Math.min(model.get("value"), last);
    slider.max = last;
    bar.hidden = last === 0;
    bar.setAttribute("aria-label", animation.title || "Steps");
    el.classList.toggle("kl-single", last === 0);
    title.textContent = animation.title;
    caption.hidden = animation.captions.every((words) => words === "");
    show();
  }

  function follow() {
    if (model.get("value") !== index && model.get("value") <= last) {
      index = model.get("value");
      show();
    }
  }

  // Keys typed in here belong to the player: JupyterLab would move to another cell, or cut this one.
  function onKey(event) {
    const isChord = event.ctrlKey || event.metaKey || event.altKey || (event.shiftKey && event.key === "Enter");
    if (isChord) return;
    event.stopPropagation();
    if (event.target === speed || (event.target !== slider && isTypedInto(event.target))) return;
    if (event.key === "f") actions.screen();
    else if (event.key === "s") actions.save();
    else if (event.key === "Escape") leave();
    else if (last === 0) return;
    else if (event.key in KEY_STEPS) go(index + KEY_STEPS[event.key]);
    else if (event.key === "Home") go(0);
    else if (event.key === "End") go(last);
    else if (event.key === " " && event.target.localName !== "button") actions.play();
    else return;
    event.preventDefault();
  }

  function enter() {
    (last === 0 ? screenButton : slider).focus({ preventScroll: true });
    el.scrollIntoView({ block: "nearest" });
  }

  function leave() {
    document.activeElement.blur();
    el.closest(".jp-Notebook")?.focus({ preventScroll: true });
  }

  function onPageKey(event) {
    if (event.key !== "p" || event.ctrlKey || event.metaKey || event.altKey || isTypedInto(event.target)) return;
    if (el.contains(event.target) || nearestPlayer() !== el) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    enter();
  }

  el.addEventListener("click", (event) => {
    const button = event.target.closest("[data-do]");
    if (!button) return;
    if (timer !== null && button !== playButton) pause();
    actions[button.dataset.do]();
  });
  slider.addEventListener("input", () => go(Number(slider.value)));
  speed.addEventListener("change", () => {
    if (timer !== null) { pause(); play(); }
  });
  stage.addEventListener("click", enter);
  stage.addEventListener("scroll", showEdges, { passive: true });
  const resized = new ResizeObserver(measure);
  resized.observe(stage);
  el.addEventListener("keydown", onKey);
  document.addEventListener("keydown", onPageKey);
  const unmountControls = mountControls(model, find(".kl-controls"));
  model.on("change:_animation", load);
  model.on("change:value", follow);
  speed.value = 1;
  load();

  return () => {
    clearInterval(timer);
    resized.disconnect();
    unmountControls();
    el.removeEventListener("keydown", onKey);
    document.removeEventListener("keydown", onPageKey);
    model.off("change:_animation", load);
    model.off("change:value", follow);
  };
}

// In a static page there is no kernel to tell: the state is a plain object.
function mountAll() {
  for (const host of document.querySelectorAll("[data-kl-start]")) {
    const state = JSON.parse(host.querySelector("script").textContent);
    for (const name of ["_animation", "_controls", "_values"]) state[name] = JSON.stringify(state[name]);
    host.removeAttribute("data-kl-start"); // several players on one page: each is mounted once
    const model = {
      isRecorded: true,
      get: (name) => state[name],
      set: (name, value) => { state[name] = value; },
      save_changes() {}, on() {}, off() {},
    };
    render({ model, el: host });
  }
}

export default { render };
