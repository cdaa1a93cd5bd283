// A prediction is made, not read: the same in JupyterLab's copies and in the pages of the book.
//   kafkalearnPredictions.form(question, {made, keep, picture, next}) -> the element below a question
//   kafkalearnPredictions.verdict(question, made) -> what was said and what is so, for below the output
//   kafkalearnPredictions.fold(line, code) -> the button that stands for folded code
//   kafkalearnPredictions.told(question) -> what is so, with the answer: each place that says it has the same words
// A question, as kafkalearn/predictions has it: {id, kind, options, sealed}; sealed are {right, within, so, told}. What was made:
// {said, right}, or {shown: true} if the reader asked to be shown. `keep(made)` is called once. Where a cell is to be run before
// the verdict, `next` has its words and its button, {words, button, see}: the form then says no more than what was said, until its
// place has called `form.tell()`.

globalThis.kafkalearnPredictions = (() => {
  const element = (name, attributes = {}, ...children) => {
    const made = Object.assign(document.createElement(name), attributes);
    made.append(...children);
    return made;
  };

  const numberOf = (text) => {
    const plain = text.replaceAll(",", "").replace("%", "").replace(/[xX ]+$/, "").trim();
    return plain === "" ? NaN : Number(plain);
  };

  // What kafkalearn/predictions has sealed (questions.py): not to be read by chance, in a page's source or in a file.
  function unsealed(question) {
    if (question.sealed === undefined) return question; // its copy was made before there were seals, or it takes any words
    let state = 0;
    for (const each of question.id) state = (Math.imul(31, state) + each.charCodeAt(0)) >>> 0;
    const bytes = Uint8Array.from(atob(question.sealed), (each) => {
      state = (Math.imul(1_664_525, state) + 1_013_904_223) >>> 0;
      return each.charCodeAt(0) ^ (state >>> 24);
    });
    return { ...question, ...JSON.parse(new TextDecoder().decode(bytes)) };
  }

  function isRight(question, said) {
    const { kind, right, within } = unsealed(question);
    if (right === null) return null; // words that no program judges
    if (kind !== "number" && kind !== "marks") return said === right;
    const numbers = numbersOf(said), rights = numbersOf(right);
    return numbers.length === rights.length && numbers.every((each, at) => Math.abs(each - rights[at]) <= within);
  }

  // As questions.py reads a record: of each mark what stands behind its name, or the one number that is all of it.
  const numbersOf = (said) => said.split(", ").map((each) => numberOf(each.slice(each.lastIndexOf(": ") + 1)));

  // JupyterLab's keys, one of which deletes cells, are not for what has the focus here; it asks each element itself.
  const ownKeys = (...elements) => elements.forEach((each) => { each.dataset.lmSuppressShortcuts = "true"; });

  // Code in backticks is marked, as in the text above.
  function words(text) {
    const made = document.createDocumentFragment();
    text.split("`").forEach((part, at) => made.append(at % 2 ? element("code", {}, part) : part));
    return made;
  }

  // --- how each kind is answered; each calls `say` with the words of the prediction

  function choices({ options }, say) {
    return options.map((option) => {
      const button = element("button", { type: "button", className: "kl-option" }, words(option));
      button.addEventListener("click", () => say(option));
      return button;
    });
  }

  function entry({ kind }, say) {
    const isNumber = kind === "number";
    const input = element("input", { type: "text", autocomplete: "off", inputMode: isNumber ? "decimal" : "text" });
    input.setAttribute("aria-label", isNumber ? "Your prediction, a number" : "Your prediction");
    const note = element("span", { className: "kl-note" });
    note.setAttribute("role", "status");
    const button = element("button", { type: "button" }, "Predict");
    const done = () => {
      const text = input.value.trim();
      if (text && !(isNumber && Number.isNaN(numberOf(text)))) say(text.slice(0, 200));
      else note.textContent = isNumber ? "A number, please." : "A word or two, please.";
    };
    button.addEventListener("click", done);
    input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      done();
    });
    return [input, button, note];
  }

  function ordering({ options }, say) {
    const chosen = [], buttons = options.map((option) => element("button", { type: "button", className: "kl-option" }, words(option)));
    const again = element("button", { type: "button", disabled: true }, "From the first again");
    const show = () => buttons.forEach((button, at) => {
      const place = chosen.indexOf(options[at]) + 1;
      button.dataset.place = place || "";
      button.setAttribute("aria-pressed", String(place > 0));
    });
    buttons.forEach((button, at) => button.addEventListener("click", () => {
      if (chosen.includes(options[at])) return;
      chosen.push(options[at]);
      again.disabled = false;
      show();
      if (chosen.length === options.length) say(chosen.join(" > "));
    }));
    again.addEventListener("click", () => { chosen.length = 0; again.disabled = true; show(); });
    show();
    return [...buttons, again];
  }

  // What is named in the picture above can be clicked there; the same names stand below it, for keys. The picture may come
  // later than the question, and draw itself anew: `picture` is asked for it whenever the pointer moves on to something.
  function pointing(question, say, picture) {
    let seen = null;
    const named = (label) => question.options.find((each) => label.textContent.trim() === each || label.textContent.trim().startsWith(`${each} `));
    const labels = () => seen?.querySelectorAll("text, tspan") ?? [];
    const look = () => {
      const shown = typeof picture === "function" ? picture() : picture;
      const drawing = shown?.matches("svg") && shown.isConnected ? shown : shown?.querySelector(".kl-stage svg, svg[viewBox]");
      if (drawing === seen) return;
      seen = drawing;
      labels().forEach((each) => { if (named(each)) each.classList.add("kl-named"); });
    };
    const click = (event) => {
      look();
      const label = event.target.closest?.("text, tspan"), name = label && seen?.contains(label) && named(label);
      if (!name) return;
      event.stopPropagation();
      say(name);
    };
    document.addEventListener("pointerover", look);
    document.addEventListener("click", click, true);
    const end = () => {
      document.removeEventListener("pointerover", look);
      document.removeEventListener("click", click, true);
      labels().forEach((each) => each.classList.remove("kl-named"));
    };
    const mark = (name, kind) => {
      look();
      const label = [...labels()].find((each) => named(each) === name);
      if (!label || seen.querySelector(`.${kind}`)) return;
      const { x, y, width, height } = label.getBBox(), frame = document.createElementNS("http://www.w3.org/2000/svg", "rect");
      for (const [key, value] of Object.entries({ x: x - 4, y: y - 3, width: width + 8, height: height + 6, rx: 4, class: kind })) frame.setAttribute(key, value);
      label.closest("text").before(frame);
    };
    return { parts: choices(question, say), end, mark };
  }

  // A row of cells is a part of the picture that is pressed: a log's offsets, a topic's partitions. One is pressed and said; of
  // several each can be taken back.
  function cellRow(question, say) {
    const { options, unit } = question;
    const isOne = !unsealed(question).right.includes(", "), chosen = new Set();
    const row = element("div", { className: "kl-cells" }), note = element("span", { className: "kl-note" });
    note.setAttribute("role", "status");
    for (const option of options) {
      const cell = element("button", { type: "button", className: "kl-cell" }, words(option));
      if (!isOne) cell.setAttribute("aria-pressed", "false");
      cell.addEventListener("click", () => {
        if (isOne) return say(option);
        chosen.delete(option) || chosen.add(option);
        cell.setAttribute("aria-pressed", String(chosen.has(option)));
      });
      row.append(cell);
    }
    const parts = [element("span", { className: "kl-unit" }, unit), row];
    if (isOne) return parts;
    const done = element("button", { type: "button" }, "Predict");
    done.addEventListener("click", () => {
      if (chosen.size) say(options.filter((each) => chosen.has(each)).join(", "));
      else note.textContent = "Press a cell first.";
    });
    return [...parts, done, note];
  }

  // An axis with a mark for each name, which is dragged, or moved by the arrow keys.
  function axes(question, say) {
    const { options, scale: [low, high], id } = question, moved = new Set();
    const note = element("span", { className: "kl-note" }), round = stepOf(question);
    note.setAttribute("role", "status");
    const inputs = options.map((name) => {
      const input = element("input", { type: "range", min: low, max: high, step: round, value: low });
      input.setAttribute("aria-label", `Your prediction${name && ` for ${name}`}, in ${question.unit || "numbers"}`);
      input.id = `kl-mark-${id}-${options.indexOf(name)}`;
      return input;
    });
    const rows = options.map((name, at) => {
      const value = element("output", {}, "?");
      value.htmlFor = inputs[at].id;
      const show = () => { moved.add(at); value.textContent = inputs[at].valueAsNumber.toLocaleString("en"); };
      for (const kind of ["input", "pointerup"]) inputs[at].addEventListener(kind, show); // where it stands may be what is meant
      inputs[at].addEventListener("keyup", ({ key }) => { if (/^(Arrow|Home$|End$)/.test(key)) show(); });
      return element("div", { className: "kl-axis" }, element("span", { className: "kl-axis-name" }, words(name)), inputs[at], value);
    });
    const done = element("button", { type: "button" }, "Predict");
    done.addEventListener("click", () => {
      if (moved.size === options.length) say(options.map((name, at) => `${name && `${name}: `}${inputs[at].valueAsNumber.toLocaleString("en")}`).join(", "));
      else note.textContent = options.length === 1 ? "Drag the mark first." : "Drag each mark first.";
    });
    return [element("div", { className: "kl-axes" }, ...rows, ends(question)), done, note];
  }

  function stepOf(question) {
    const { scale: [low, high] } = question, isWhole = numbersOf(unsealed(question).right).every(Number.isInteger);
    const step = 10 ** Math.floor(Math.log10((high - low) / 40));
    return isWhole ? Math.max(1, step) : step;
  }

  const ends = ({ scale: [low, high], unit }) => element("div", { className: "kl-axis kl-ends" }, element("span", { className: "kl-axis-name" }),
    element("span", { className: "kl-scale" }, ...[low.toLocaleString("en"), unit, high.toLocaleString("en")].map((each) => element("span", {}, each))), element("output"));

  // The same picture afterwards: mine is dashed, the true one, if it may be told, is filled.
  function drawing(question, said, isTold) {
    const { right } = unsealed(question), { kind, options, scale } = question;
    if (kind === "cells") {
      const mine = said?.split(", ") ?? [], so = isTold ? right.split(", ") : [];
      const cells = options.map((each) => element("span", { className: `kl-cell${mine.includes(each) ? " kl-mine" : ""}${so.includes(each) ? " kl-true" : ""}` }, words(each)));
      return pictureOf(element("span", { className: "kl-unit" }, question.unit), element("div", { className: "kl-cells" }, ...cells));
    }
    if (kind !== "marks") return "";
    const mine = said ? numbersOf(said) : [], so = isTold ? numbersOf(right) : [];
    const at = (number) => `${(100 * (Math.min(scale[1], Math.max(scale[0], number)) - scale[0])) / (scale[1] - scale[0])}%`;
    const dot = (number, kind) => (number === undefined ? "" : Object.assign(element("i", { className: kind }), { style: `left: ${at(number)}` }));
    const rows = options.map((name, row) => element("div", { className: "kl-axis" }, element("span", { className: "kl-axis-name" }, words(name)),
      element("span", { className: "kl-track" }, dot(so[row], "kl-true"), dot(mine[row], "kl-mine")),
      element("output", {}, (so[row] ?? mine[row] ?? "").toLocaleString("en"))));
    return pictureOf(element("div", { className: "kl-axes" }, ...rows, ends(question)));
  }

  function pictureOf(...parts) {
    const whole = element("div", { className: "kl-drawn" }, ...parts);
    whole.setAttribute("aria-hidden", "true"); // the words beside it say the same
    return whole;
  }

  const HOW = {
    marks: "Your prediction: drag the marks.", cells: "Your prediction: press it in the picture.",
    choice: "Your prediction:", number: "Your prediction, a number:", text: "Your prediction, in a word or two:",
    order: "Your prediction: press them in their order.", point: "Your prediction: click it in the picture, or press its name.",
  };

  // --- what stands afterwards: what was predicted, and what is so, in one line

  function told(question) {
    const { so, right, told: parts } = unsealed(question);
    const [before, answer, after] = parts ?? (right === null ? ["", "", so || "What is so follows."] : ["The answer: ", right, `. ${so}`]);
    return [before, ...(answer ? [element("strong", {}, words(answer))] : []), words(after)];
  }

  function line(question, made) {
    if (made.aloud) return told(question); // a class has said it
    if (made.shown) return ["Shown without a prediction. ", ...told(question)];
    const said = ["You said ", element("strong", {}, words(made.said)), made.right ? ". So it is. " : ". "];
    const { so, right } = unsealed(question);
    return [...said, ...(made.said === right ? [words(so)] : told(question))];
  }

  // What a record says of it is not believed, and may not be known where it was written.
  const judged = (question, made) => (made.shown ? made : { ...made, right: isRight(question, made.said) });
  const outcome = ({ shown, right }) => (shown ? "shown" : right === null ? "said" : right ? "right" : "wrong");

  function verdict(question, made) {
    const result = judged(question, made), said = element("p", { className: "kl-said" }, ...line(question, result));
    said.setAttribute("role", "status");
    const place = element("div", { className: "kl-predict kl-verdict" }, drawing(question, result.said, true), said);
    Object.assign(place.dataset, { verdict: question.id, made: outcome(result) });
    return place;
  }

  function form(question, { made = null, keep = () => {}, picture = null, next = null } = {}) {
    const place = element("div", { className: "kl-predict" });
    place.dataset.predict = question.id;
    place.setAttribute("role", "group");
    place.setAttribute("aria-label", "Your prediction");
    place.addEventListener("dblclick", (event) => event.stopPropagation());
    let end = () => {}, mark = () => {}, given = null;

    function settle(made, isNew, isTold) {
      given = made;
      const result = judged(question, made), isOpen = made.shown || !next || isTold;
      place.dataset.made = isOpen ? outcome(result) : "said";
      const isElsewhere = isOpen && next && !made.shown; // below the output
      const parts = isElsewhere || !isOpen ? ["You said ", element("strong", {}, words(made.said)), isOpen ? "." : `. ${next.words}`] : line(question, result);
      const said = element("p", { className: "kl-said" }, ...parts);
      said.setAttribute("role", "status");
      said.tabIndex = -1;
      ownKeys(said);
      const hasFocus = isNew || place.contains(document.activeElement); // what had it goes
      place.replaceChildren(drawing(question, made.said, isOpen), said);
      if (made.said) mark(made.said, "kl-mine");
      if (isOpen && place.isConnected) mark(unsealed(question).right, "kl-true");
      if (!isOpen) {
        const see = element("button", { type: "button", className: "kl-see" }, next.button);
        see.addEventListener("click", () => next.see());
        ownKeys(see);
        said.append(" ", see);
      }
      if (hasFocus) said.focus({ preventScroll: true });
    }

    const make = (result) => {
      if (place.dataset.made) return;
      end();
      settle(result, true, false);
      keep(result);
    };
    const say = (said) => make({ said, right: isRight(question, said) });

    if (made) settle(made, false, false);
    else {
      const asked = element("p", { className: "kl-how" }, HOW[question.kind]);
      const show = element("button", { type: "button", className: "kl-show-me" }, "Show me");
      show.title = "What follows is closed until a prediction is made; this opens it without one";
      show.addEventListener("click", () => make({ shown: true }));
      let parts;
      if (question.kind === "order") parts = ordering(question, say);
      else if (question.kind === "marks") parts = axes(question, say);
      else if (question.kind === "cells") parts = cellRow(question, say);
      else if (question.kind === "point") ({ parts, end, mark } = pointing(question, say, picture));
      else parts = question.options.length ? choices(question, say) : entry(question, say);
      place.append(asked, element("div", { className: "kl-answers" }, ...parts, show));
      ownKeys(...place.querySelectorAll("button, input"));
    }
    place.settle = (result) => { end(); settle(result, false, false); };
    place.tell = () => { if (given) settle(given, false, true); };
    return place;
  }

  // One line for code that is folded from the start; pressed, the code is there.
  function fold(text, toggle) {
    const button = element("button", { type: "button", className: "kl-fold" }, text);
    ownKeys(button);
    button.setAttribute("aria-expanded", "false");
    button.addEventListener("click", () => {
      const isOpen = button.getAttribute("aria-expanded") !== "true";
      button.setAttribute("aria-expanded", String(isOpen));
      toggle(isOpen);
    });
    return button;
  }

  // A player is brought into view, whole where it fits; from its top where it is larger than the view.
  function bringIntoView(player, view = null) {
    const { top, bottom, height } = player.getBoundingClientRect();
    const seen = view?.getBoundingClientRect() ?? { top: 0, bottom: innerHeight, height: innerHeight };
    if (top >= seen.top && bottom <= seen.bottom) return;
    const behaviour = matchMedia("(prefers-reduced-motion: reduce)").matches ? "instant" : "auto";
    player.scrollIntoView({ block: height <= seen.height ? "nearest" : "start", behavior: behaviour });
  }

  return { element, form, verdict, told, fold, isRight, bringIntoView };
})();
