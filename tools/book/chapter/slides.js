// A lesson as slides, made from its chapter, with the same players: its name and the incident; then, of each section, a
// picture as wide as the screen, or a question and, once the slide is turned, its answer: what the cell gave, above the
// verdict; the summary. No more than MOST; what has no picture goes first. Code is behind a key: c shows what made a slide.
// Arrows, Space, Page Down and Page Up, n and b, or a click turn them, Home and End jump; o opens the notes in a second
// window, which follows; Escape ends. The address with #slides opens so; the notes' with #speaker are that window.

const slideHead = document.querySelector(".for-slides"), counter = document.getElementById("slide-number");
const notesLink = document.querySelector('.navigation a[href$=".instructor.html"]');
const MOST = 25, SMALLEST = { TABLE: 0.7, PRE: 0.5 }; // slides; what either may be scaled to, whose letters are 32 of 1,080
const SMALLEST_DRAWN = 24.5; // pixels: what a picture's letters grow to, where it has room
const NOT_TAUGHT = /^(Further|Exercises?|Ask a real|Where the model|What (the )?(articles|one reads|you may)|Without waiting|Sources)/i;
const shownIn = (element) => element.getClientRects().length > 0;
let slides = [], at = -1, speaker = null, hasCode = false, endLetters = () => {};

const isHeading = (element) => /^H[1-6]$/.test(element.tagName);
const wordsOf = (heading) => heading.textContent.replace("¶", "").trim();
const inputOf = (cell) => cell?.querySelector(".jp-CodeCell .jp-InputArea");

// What a cell draws: a player, or a still picture; one that is closed counts, too.
const DRAWN = ".kl-player, .jp-OutputArea-output > :is(img, svg)";
const pictureOf = (cell) => [...cell.querySelectorAll(".jp-OutputArea-child")].map((each) => each.querySelector(DRAWN)).findLast(Boolean);
const tableOf = (cell) => cell.querySelector(".jp-OutputArea-output :is(table, pre)");

// The slides of a lesson in order, each {title, elements, code, asks}, before any is measured.
function scenes() {
  const cells = [...document.querySelectorAll(".book-cell")], found = [];
  let title = "", isTaught = true;
  for (const cell of cells) {
    const words = [...cell.querySelectorAll(".jp-MarkdownCell .jp-RenderedMarkdown > *")], heading = words.findLast(isHeading);
    if (heading) {
      title = wordsOf(heading);
      if (/^H[12]$/.test(heading.tagName)) isTaught = !NOT_TAUGHT.test(title.replace(/^[\d.]+ /, ""));
      if (heading.tagName === "H1") found.push({ title: "", names: title, elements: [heading, ...words.filter((each) => each.tagName === "P" && !each.firstChild.matches?.("em")).slice(0, 1)], worth: 9 });
      if (/^(\d+ )?Summary/.test(title)) found.push({ title, elements: words.filter((each) => !isHeading(each)), worth: 9 });
    }
    if (!isTaught) continue;
    const asks = cell.querySelector("[data-asks]"), after = cell.querySelector("[data-after]") ?? cell.closest("[data-after]");
    if (asks) {
      const asked = words.findLast((each) => each.textContent.startsWith("Predict")), id = asks.dataset.asks;
      const told = document.querySelector(`[data-verdict-of="${CSS.escape(id)}"]`), closed = cells.filter((each) => each.dataset.after === id || each.querySelector(`[data-after="${CSS.escape(id)}"]`));
      if (!told) continue; // its answer is words that a slide has not
      const run = told.closest(".book-cell"), pictured = [run, ...closed].find((each) => each && pictureOf(each)), picture = pictured && pictureOf(pictured);
      const table = tableOf(run), isDrawn = asks.querySelector(".kl-cells, .kl-axes");
      const code = inputOf(pictured ?? run), worth = (picture ? 3 : 1) + (isDrawn ? 1 : 0);
      const pointed = asks.querySelector("script").textContent.includes('"kind": "point"') && cells.slice(0, cells.indexOf(cell)).findLast(pictureOf);
      const before = asked?.previousElementSibling, story = before?.matches("p") && before.textContent.length < 320 && before;
      found.push({ title, elements: [pointed && pictureOf(pointed), !pointed && story, asked, asks].filter(Boolean), asks: id, worth });
      found.push({ title, elements: [picture ?? table, told].filter(Boolean), answers: id, code, worth });
    } else if (!after && pictureOf(cell)) found.push({ title, elements: [pictureOf(cell)], code: inputOf(cell), worth: 3 });
  }
  return found;
}

// No more than MOST: what is worth least goes, the last of its kind first, a question with its answer.
function chosen(found) {
  const kept = [...found];
  while (kept.length > MOST) {
    const least = Math.min(...kept.map(({ worth }) => worth)), gone = kept.findLast(({ worth }) => worth === least);
    const id = gone.asks ?? gone.answers;
    kept.splice(0, kept.length, ...kept.filter((each) => each !== gone && (!id || (each.asks ?? each.answers) !== id)));
  }
  return kept;
}

const isAlone = ({ elements: [first] }) => Boolean(first?.matches(DRAWN) || first?.matches("svg, img"));
const isClosed = ({ answers, elements }) => Boolean(answers) && !elements.at(-1).firstChild;
function cut() {
  document.querySelectorAll(".off-slide").forEach((each) => each.classList.remove("off-slide"));
  enlarge(1);
  document.querySelectorAll(".book-cell [data-smaller]").forEach((each) => {
    each.style.zoom = "";
    delete each.dataset.smaller;
  });
  const made = chosen(scenes());
  made.room = document.documentElement.clientHeight - slideHead.offsetHeight - 3.5 * parseFloat(getComputedStyle(document.body).fontSize);
  return made;
}

function hideAllBut(kept) {
  const shown = new Set(kept);
  const holds = (element) => kept.some((each) => element.contains(each));
  for (const cell of document.querySelectorAll(".book-cell")) {
    const isHere = holds(cell);
    cell.classList.toggle("off-slide", !isHere);
    if (!isHere) continue;
    for (const part of cell.querySelectorAll(".jp-Cell-inputWrapper, .jp-InputArea, .jp-Cell-outputWrapper, .jp-OutputArea-child, .jp-RenderedMarkdown > *, .jp-RenderedHTMLCommon > *, .kl-told, [data-asks], details")) {
      if (!shown.has(part)) part.classList.toggle("off-slide", !holds(part));
    }
  }
}

// A picture takes the screen, above its verdict. Words are made larger, if they then fit; a table that is larger than the
// screen is made smaller, or is not shown, if it could not be read then.
function fit(slide) {
  document.body.classList.toggle("pictured", isAlone(slide));
  const { elements } = slide, room = slides.room;
  document.body.style.setProperty("--below", "0px");
  if (isAlone(slide)) {
    elements.at(-1).classList.toggle("below-picture", Boolean(slide.answers)); // the picture has the room
    let below = elements.slice(1).reduce((sum, each) => sum + each.offsetHeight, 0);
    for (let over = below ? 24 : 0; over > 0; over = Math.max(...elements.map((each) => each.closest(".book-cell").getBoundingClientRect().bottom)) - innerHeight + 2) {
      below += over;
      document.body.style.setProperty("--below", `${below}px`);
      if (below > 0.75 * slides.room) break; // the picture is still to be seen
    }
    putBeside(elements[0]);
    endLetters = keepLettersLarge(elements[0], () => (hasCode ? 0 : SMALLEST_DRAWN));
    return;
  }
  const others = elements.slice(1).reduce((sum, each) => sum + each.offsetHeight, 0), [first] = elements;
  if (first.matches("table, pre")) {
    const scale = Math.min((room - others) / Math.max(first.offsetHeight, 1), first.parentElement.clientWidth / Math.max(first.scrollWidth, 1), 1);
    if (scale < SMALLEST[first.tagName]) first.closest(".jp-OutputArea-child").classList.add("off-slide");
    else if (scale < 1) Object.assign(first.style, { zoom: scale }), (first.dataset.smaller = scale.toFixed(2));
  }
  for (const larger of [1.4, 1.2]) {
    enlarge(larger);
    const boxes = elements.filter(shownIn).map((each) => each.getBoundingClientRect());
    if (!boxes.some(({ bottom, right }) => bottom > innerHeight - 40 || right > innerWidth - 20)) return;
  }
  enlarge(1);
}

// What may happen next stands beside a picture that becomes larger so; else below it.
function putBeside(player) {
  const svg = player.matches(".kl-touched") && player.querySelector(".kl-stage svg");
  if (!svg) return;
  const { width, height } = svg.viewBox.baseVal;
  const scale = () => Math.min(svg.getBoundingClientRect().width / width, svg.getBoundingClientRect().height / height);
  player.classList.remove("kl-beside");
  const below = scale();
  player.classList.add("kl-beside");
  const isOver = [player, player.querySelector(".kl-next")].some((each) => each.scrollHeight > each.clientHeight + 1 || each.scrollWidth > each.clientWidth + 1);
  if (scale() < 1.05 * below || isOver) player.classList.remove("kl-beside");
}

const enlarge = (larger) => document.querySelector("main").style.setProperty("--larger", larger);

// The page's one heading, where its own is on another slide. A long title has smaller letters, not fewer.
function nameIt(title) {
  const named = document.getElementById("slide-title");
  for (const [name, value] of [["role", "heading"], ["aria-level", "1"]]) title ? named.setAttribute(name, value) : named.removeAttribute(name);
  Object.assign(named, { textContent: title }).style.fontSize = "";
  if (named.scrollWidth > named.clientWidth) named.style.fontSize = `${(0.98 * parseFloat(getComputedStyle(named).fontSize) * named.clientWidth) / named.scrollWidth}px`;
}

// Said at the first slide that this browser shows, until one is turned.
const hint = Object.assign(document.createElement("p"), { className: "slides-hint", textContent: "Go on with →, Space or a click, back with ←. c shows the code, o the notes; Esc ends the slides." });
const HINTED = "kafkalearn.slides-hinted";
hint.setAttribute("role", "status");
function showHint() {
  try {
    if (localStorage.getItem(HINTED)) return;
    localStorage.setItem(HINTED, "yes");
  } catch { /* a window that keeps nothing says it each time */ }
  document.body.append(hint);
}

// A question that is asked about the picture of another's answer, which a class has jumped over: that is told first.
function openFor(element) {
  const closed = element.closest(".kl-closed");
  if (closed) globalThis.kafkalearnTellAloud(closed.dataset.after);
}

// Who turns a question's slide wants its answer: it is told, and nobody's prediction is written down for it.
function turn(to) {
  hint.remove();
  hasCode = false;
  const asked = slides[at]?.asks;
  if (asked && to === at + 1 && slides[to] && isClosed(slides[to])) globalThis.kafkalearnTellAloud(asked);
  showSlide(to, to < at ? -1 : 1);
}

function showSlide(to, way = 1) {
  if (at < 0) {
    showHint();
    document.body.classList.add("slides");
    document.body.prepend(slideHead); // it stays as it is while what is below grows
    document.getElementById("show-slides").textContent = "End";
    slides = cut();
  }
  document.querySelectorAll(".off-slide").forEach((each) => each.classList.remove("off-slide"));
  const end = (place) => Math.max(0, Math.min(slides.length - 1, place));
  at = end(to);
  while (isClosed(slides[at]) && at !== end(at + way)) at = end(at + way); // an answer behind a question that nobody turned
  const slide = slides[at];
  if (slide.asks) slide.elements.forEach(openFor);
  enlarge(1);
  asDrawn();
  hideAllBut(hasCode && slide.code ? [slide.code] : slide.elements);
  slide.code?.closest("details")?.toggleAttribute("open", hasCode);
  if (hasCode && slide.code) document.body.style.setProperty("--below", "0px");
  else fit(slide);
  counter.textContent = `${at + 1} of ${slides.length}`; // what is left is the title's
  nameIt(slide.title);
  scrollTo(0, 0);
  tell();
}

function asDrawn() {
  endLetters();
  document.querySelectorAll("svg[data-letters]").forEach(smallLetters);
}

function endSlides() {
  hint.remove();
  asDrawn();
  document.body.classList.remove("slides");
  document.querySelector(".contents, .book-cell").before(slideHead);
  document.querySelectorAll(".off-slide").forEach((each) => each.classList.remove("off-slide"));
  document.querySelectorAll(".book-cell [data-smaller]").forEach((each) => { each.style.zoom = ""; });
  document.getElementById("show-slides").textContent = "Slides";
  slides[at]?.elements[0].scrollIntoView();
  at = -1;
}

// A prediction changes its form, and a window its size: the slide is laid out anew.
let cutting = 0;
addEventListener("resize", () => {
  if (at < 0) return;
  cancelAnimationFrame(cutting);
  cutting = requestAnimationFrame(() => {
    const { asks, answers } = slides[at];
    slides = cut();
    showSlide(asks || answers ? slides.findIndex((each) => each.asks === asks && each.answers === answers) : at);
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
// What a key or a click is for by itself: it turns no slide there. A player has its own keys, but for n and b.
const CONTROLS = "a, button, input, label, textarea, select, summary, [contenteditable], .kl-player, .kl-named";
const IS_CODE = ".jp-InputArea-editor, [data-part=code], .ace_editor"; // a click there begins to change it
const GOES = {
  ArrowRight: () => at + 1, PageDown: () => at + 1, " ": ({ shiftKey }) => at + (shiftKey ? -1 : 1), n: () => at + 1,
  ArrowLeft: () => at - 1, PageUp: () => at - 1, b: () => at - 1, Home: () => 0, End: () => slides.length - 1,
};
document.addEventListener("keydown", (event) => {
  const { target, key } = event;
  if (at < 0 || event.defaultPrevented || target.closest("input, textarea, select, [contenteditable]") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (target.closest(".kl-player") && key !== "n" && key !== "b") return;
  if (key === " " && target.closest(CONTROLS)) return; // it presses what has the focus
  if (key in GOES) turn(GOES[key](event));
  else if (key === "o") openNotes();
  else if (key === "c") {
    hasCode = !hasCode;
    showSlide(at);
  }
  else if (key === "Escape") endSlides();
  else return;
  event.preventDefault();
});
document.addEventListener("click", (event) => {
  const isOurs = at >= 0 && !event.defaultPrevented && !event.target.closest(`${CONTROLS}, ${IS_CODE}, .for-slides`);
  if (isOurs && String(getSelection()) === "") turn(at + 1);
});
addEventListener("message", ({ data, source }) => {
  if (data.kafkalearnNotes && source === speaker) tell();
});
if (location.hash === "#slides") document.fonts.ready.then(() => showSlide(0)); // letters have their widths

window.kafkalearnSlides = { count: () => slides.length, show: showSlide, turn };

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
