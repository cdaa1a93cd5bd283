// A chapter as slides, on the same page with the same players: one idea each. A cell begins a slide, unless it or its
// neighbour is a line or two; a picture has one of its own, and what does not fit goes on to the next: it is measured,
// so nothing is ever cut off. Checks, imports, folded code, the words of a bar, exercises' forms and what a prediction
// closes are on none.
// Arrows, Space, Page Down and Page Up, n and b, or a click turn them, Home and End jump; o opens the notes in a second
// window, which follows; Escape ends. The address with #slides opens so; the notes' with #speaker are that window.

const slideHead = document.querySelector(".for-slides"), counter = document.getElementById("slide-number");
const notesLink = document.querySelector('.navigation a[href$=".instructor.html"]');
const shownIn = (element) => element.getClientRects().length > 0;
let slides = [], at = -1, speaker = null;

const codeOf = (input) => input?.querySelector("pre")?.textContent.trim() ?? "";

// Code that only imports shows nothing; nor does the name that a bar had while it ran.
const onlyImports = (code) => /^(from|import)\b/.test(code) && code.split("\n").every((line) => /^(from |import |[\s)]|$)/.test(line));
const isOfBar = (output, cell) => !output.matches(".jp-OutputArea-executeResult") && output.querySelector(':scope > [data-mime-type="text/plain"]') && /\bprogress_bar\(/.test(codeOf(cell.querySelector(".jp-InputArea")));

// What may stand on a slide, in order: its element, the cell it is of, and whether it wants a slide for itself.
function piecesOf(cell) {
  const pieces = [], add = (element, isAlone = false) => pieces.push({ element, cell, isAlone });
  const parts = (element) => {
    if (element.matches("ol, ul")) [...element.children].forEach((each) => add(each));
    else if (element.querySelector(":scope tbody tr")) element.querySelectorAll("tbody tr").forEach((each) => add(each));
    else add(element);
  };
  for (const words of cell.querySelectorAll(".jp-MarkdownCell .jp-RenderedMarkdown")) [...words.children].forEach(parts);
  for (const input of cell.querySelectorAll(".jp-CodeCell .jp-InputArea")) if (!input.closest(".kl-folded-code") && !onlyImports(codeOf(input))) add(input);
  for (const output of cell.querySelectorAll(".jp-OutputArea-child")) {
    if (isOfBar(output, cell)) continue;
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

// Where it ends; a list's sentence that goes on below it ("and you can ...") is a part of it.
function boxOf(whole) {
  const { top, bottom } = whole.getBoundingClientRect(), after = whole.nextElementSibling;
  const end = whole.matches("ol, ul") && after?.matches("p") && /^[a-z]/.test(after.textContent.trim()) ? after.getBoundingClientRect().bottom : bottom;
  return { top, bottom: end, height: end - top };
}

// The sentence that leads to a list goes with it.
function introOf(whole, { element }, open, room) {
  const last = open.pieces.at(-1);
  const leads = element.tagName === "LI" && open.pieces.length > 1 && last.element === element.parentElement.previousElementSibling;
  return leads && whole.bottom - last.box.top <= room;
}

// What of a cell belongs on one slide: up to its picture; below words, up to a table that does not fit there.
function restOf(measured, at, open, room) {
  const rest = [];
  for (const piece of measured.slice(at)) {
    if (piece.isAlone || piece.cell !== measured[at].cell || isHeading(piece.element)) break;
    rest.push(piece);
  }
  const table = rest.findIndex(({ element }) => element.closest("table"));
  const isTooMuch = rest.at(-1).box.bottom - open.pieces[0].box.top > room && !open.pieces.some(({ element }) => element.closest("table"));
  return table > 0 && isTooMuch ? rest.slice(0, table) : rest;
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

// A long name in a table goes on in the next line behind a dot or a dash, not in the middle of a word; bytes in hex after
// sixteen of them. A command's option stays whole with its dashes.
const LONGEST_OPTION = 28;
function letNamesBreak() {
  for (const cell of document.querySelectorAll(".book-cell table :is(td, th):not(:has(wbr, .kept-whole))")) {
    const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT), texts = [];
    while (walker.nextNode()) texts.push(walker.currentNode);
    for (const text of texts) {
      const isCode = text.parentElement.closest("code"), most = cell.closest("thead") ? 8 : isCode ? 10 : 15; // letters that stay together
      const places = isCode ? /(?<=[.$_/-])(?=\w)/ : /(?<=\w[.$_/])(?=\w)|(?<=[a-z]{2})(?=[A-Z][a-z])/;
      const option = (word) => Object.assign(document.createElement("span"), { className: "kept-whole", textContent: word });
      const broken = (word) => {
        if (isCode && /^--?\w/.test(word) && word.length <= LONGEST_OPTION) return [option(word)];
        const parts = /^[\da-f]{40,}$/.test(word) ? word.match(/.{1,32}/g) : word.split(word.length > most ? places : /$^/);
        return parts.flatMap((part, at) => (at ? [document.createElement("wbr"), part] : [part]));
      };
      const parts = text.data.split(/(\s+)/).flatMap(broken);
      if (parts.some((part) => part.tagName)) text.replaceWith(...parts);
    }
  }
}

// What a tool prints keeps its columns: lines that are a little too long for the screen stand closer, none is broken.
// Blanks at the end of a line need no room. Lines that stand between words are as large as these; where they are too
// long, they get smaller, down to the letters of code.
const MOST_CLOSE_EM = 0.1, CODE = "calc(22 * var(--px))";
function keepLines() {
  for (const lines of document.querySelectorAll(".book-cell .jp-RenderedMarkdown pre")) {
    lines.style.fontSize = "";
    if (!shownIn(lines)) continue;
    const code = lines.firstElementChild ?? lines, around = 2 * parseFloat(getComputedStyle(lines).paddingLeft);
    code.style.whiteSpace = "pre";
    const scale = (lines.clientWidth - around) / (lines.scrollWidth - around);
    if (scale < 1) lines.style.fontSize = `max(${CODE}, ${scale * parseFloat(getComputedStyle(lines).fontSize) - 0.2}px)`;
    code.style.whiteSpace = "";
  }
  const longest = (lines) => Math.max(...lines.map((line) => line.length));
  for (const lines of document.querySelectorAll(".book-cell .jp-OutputArea-output > pre")) {
    if (!shownIn(lines)) continue;
    Object.assign(lines.style, { letterSpacing: "", whiteSpace: "pre" });
    const { fontSize, paddingLeft, paddingRight } = getComputedStyle(lines), around = parseFloat(paddingLeft) + parseFloat(paddingRight);
    const printed = lines.textContent.split("\n"), most = longest(printed.map((line) => line.trimEnd()));
    const needed = ((lines.scrollWidth - around) * most) / longest(printed) + around; // every letter is as wide as the others
    const over = (needed + 1 - lines.clientWidth) / most / parseFloat(fontSize);
    if (lines.scrollWidth > lines.clientWidth && over > 0 && over <= MOST_CLOSE_EM) lines.style.letterSpacing = `${-over}em`;
    lines.style.whiteSpace = "";
  }
}

// A column of names or numbers is not broken, whatever the sentences beside it would take: one that needs less than a
// third of the screen, and less than its even share of what is left, gets what it needs. Its heading may break. What
// would make the table higher is left as it was: the sentences need the room more.
function keepColumns() {
  for (const table of document.querySelectorAll(".book-cell table")) {
    if (!shownIn(table)) continue;
    const rows = [...table.tBodies].flatMap((body) => [...body.rows]);
    const cells = rows.flatMap((row) => [...row.cells]).filter((cell) => cell.colSpan === 1);
    const keepWhole = (isKept) => cells.forEach((cell) => cell.classList.toggle("kept-whole", isKept(cell)));
    keepWhole(() => false);
    const room = table.parentElement.clientWidth, high = table.offsetHeight, needs = [];
    keepWhole(() => true);
    table.style.width = "max-content";
    for (const cell of cells) needs[cell.cellIndex] = Math.max(needs[cell.cellIndex] ?? 0, cell.offsetWidth);
    table.style.width = "";
    let most = 0, left = room;
    for (const [at, needed] of needs.toSorted((a, b) => a - b).entries()) {
      if (needed > Math.min(room / 3, left / (needs.length - at))) break;
      most = needed;
      left -= needed;
    }
    keepWhole((cell) => needs[cell.cellIndex] <= most);
    if (table.scrollWidth > room || table.offsetHeight > high) keepWhole(() => false);
  }
}

const isBroken = (element) => (element.matches("pre") ? [element] : [...element.querySelectorAll("pre")]).some((pre) => {
  const high = parseFloat(getComputedStyle(pre).lineHeight), lines = pre.textContent.replace(/\n$/, "").split("\n").length;
  return pre.clientHeight > (lines + 0.7) * high || pre.scrollWidth > pre.clientWidth + 1;
});

// All pieces are laid out under each other and measured; then each slide takes as many as fit.
function cut() {
  document.querySelectorAll(".off-slide").forEach((each) => each.classList.remove("off-slide"));
  enlarge(1);
  freeWidths();
  letNamesBreak();
  keepLines();
  keepColumns();
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
    const begun = begunBy(piece, open), whole = begun && boxOf(begun); // what fits on a slide is not cut for what stands above it
    const isApart = whole && whole.height <= room && whole.bottom - open.pieces[0].box.top > room - open.extra;
    const goesOn = open && !open.isAlone && !piece.isAlone && (open.cell === piece.cell || isLittle(open, restOf(measured, at, open, room), room));
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
  shareRows(made, room);
  made.splice(0, made.length, ...made.filter((slide, at) => !isOnlyACall(slide, made[at + 1])));
  made.room = room;
  const firstOf = new Map();
  for (const slide of made) for (const { element } of slide.pieces) {
    const table = element.closest("table");
    if (table && (firstOf.get(table) ?? firstOf.set(table, slide).get(table)) !== slide) keepWidths(table);
  }
  return made;
}

// The last rows of a long table are not left alone: they are shared evenly with the slide before.
function shareRows(made, room) {
  const tableOf = (piece) => piece?.element.closest("table");
  for (let at = made.length - 1; at > 0; at--) {
    const [before, after] = [made[at - 1].pieces, made[at].pieces], table = tableOf(after[0]);
    const rows = (pieces) => pieces.filter((piece) => tableOf(piece) === table);
    const high = (some) => (some.length ? some.at(-1).box.bottom - some[0].box.top : 0);
    while (table && tableOf(before.at(-1)) === table && rows(before).length > 1) {
      const moved = before.at(-1), height = moved.box.height;
      if (high(rows(before)) - high(rows(after)) <= height || after.at(-1).box.bottom - moved.box.top > room - made[at].extra) break;
      after.unshift(before.pop());
    }
  }
}

// A line or two that only call for what fills the next slide need none of their own.
function isOnlyACall({ title, pieces }, next) {
  const code = pieces.length === 1 && pieces[0].element.matches(".jp-InputArea") && codeOf(pieces[0].element);
  return Boolean(code && title && next?.pieces[0].cell === pieces[0].cell && code.split("\n").length <= 2);
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

// Words are made larger, if they then fit and no line of code breaks; one piece that is larger than the screen is made
// smaller as a whole.
function fit(slide) {
  if (slide.isAlone) return putBeside(slide.pieces[0].element);
  for (const { element } of slide.pieces) {
    const whole = element.closest("table") ?? element;
    if (whole.dataset.smaller) continue;
    const high = slides.room / Math.max(whole.getBoundingClientRect().height, 1), wide = whole.parentElement.clientWidth / Math.max(whole.scrollWidth, 1);
    const scale = Math.min(high, wide, 1);
    if (scale < 1) Object.assign(whole.style, { zoom: scale }), (whole.dataset.smaller = scale.toFixed(2));
  }
  if (slide.pieces.some(({ element }) => isBroken(element))) return;
  for (const larger of [1.3, 1.15]) {
    enlarge(larger);
    const boxes = slide.pieces.map(({ element }) => (element.closest("table") ?? element).getBoundingClientRect());
    const isOver = boxes.some(({ bottom, right }) => bottom > innerHeight - 40 || right > innerWidth - 20);
    if (!isOver && !slide.pieces.some(({ element }) => isBroken(element))) return;
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

// A long title has smaller letters, not fewer.
function nameIt(title) {
  const named = document.getElementById("slide-title");
  Object.assign(named, { textContent: title }).style.fontSize = "";
  if (named.scrollWidth > named.clientWidth) named.style.fontSize = `${(0.98 * parseFloat(getComputedStyle(named).fontSize) * named.clientWidth) / named.scrollWidth}px`;
}

// Said at the first slide that this browser shows, until one is turned.
const hint = Object.assign(document.createElement("p"), { className: "slides-hint", textContent: "Go on with →, Space or a click, back with ←. Esc ends the slides." });
const HINTED = "kafkalearn.slides-hinted";
hint.setAttribute("role", "status");
function showHint() {
  try {
    if (localStorage.getItem(HINTED)) return;
    localStorage.setItem(HINTED, "yes");
  } catch { /* a window that keeps nothing says it each time */ }
  document.body.append(hint);
}

function turn(to) {
  hint.remove();
  showSlide(to);
}

function showSlide(to) {
  if (at < 0) {
    showHint();
    document.body.classList.add("slides");
    document.body.prepend(slideHead); // it stays as it is while what is below grows
    document.getElementById("show-slides").textContent = "End";
    slides = cut();
  }
  at = Math.max(0, Math.min(slides.length - 1, to));
  const slide = slides[at];
  enlarge(1);
  hideAllBut(slide.pieces);
  slide.pieces.forEach(({ element }) => { if (element.tagName === "LI" && element.parentElement.tagName === "OL") element.value = [...element.parentElement.children].indexOf(element) + 1; });
  fit(slide);
  counter.textContent = `${at + 1} of ${slides.length}`; // what is left is the title's
  nameIt(slide.title);
  scrollTo(0, 0);
  tell();
}

function endSlides() {
  hint.remove();
  document.body.classList.remove("slides");
  document.querySelector(".contents, .book-cell").before(slideHead);
  document.querySelectorAll(".off-slide").forEach((each) => each.classList.remove("off-slide"));
  document.querySelectorAll(".book-cell [data-smaller]").forEach((each) => { each.style.zoom = ""; });
  document.querySelectorAll(".book-cell :is(.jp-OutputArea-output > pre, .jp-RenderedMarkdown pre)").forEach((each) => Object.assign(each.style, { letterSpacing: "", fontSize: "" }));
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
