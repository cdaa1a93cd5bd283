// A prediction is made, not read: the same in JupyterLab's copies and in the pages of the book.
//   kafkalearnPredictions.form(question, {made, keep, picture}) -> the element below a question
//   kafkalearnPredictions.fold(line, code) -> the button that stands for folded code
//   kafkalearnPredictions.told(question) -> what is so, with the answer: each place that says it has the same words
// A question, as kafkalearn/predictions has it: {id, kind, options, sealed}; sealed are {right, within, so, told}. What was made:
// {said, right}, or {shown: true} if the reader asked to be shown. `keep(made)` is called once, and opens what was closed.

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
    return kind === "number" ? Math.abs(numberOf(said) - numberOf(right)) <= within : said === right;
  }

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
    return { parts: choices(question, say), end };
  }

  const HOW = {
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
    if (made.shown) return ["Shown without a prediction. ", ...told(question)];
    const said = ["You predicted ", element("strong", {}, words(made.said)), made.right ? ". So it is. " : ". "];
    const { so, right } = unsealed(question);
    return [...said, ...(made.said === right ? [words(so)] : told(question))];
  }

  function form(question, { made = null, keep = () => {}, picture = null } = {}) {
    const place = element("div", { className: "kl-predict" });
    place.dataset.predict = question.id;
    place.setAttribute("role", "group");
    place.setAttribute("aria-label", "Your prediction");
    place.addEventListener("dblclick", (event) => event.stopPropagation());

    // What a record says of it is not believed, and may not be known where it was written.
    function settle(made, isNew) {
      const result = made.shown ? made : { ...made, right: isRight(question, made.said) };
      place.dataset.made = result.shown ? "shown" : result.right === null ? "said" : result.right ? "right" : "wrong";
      const said = element("p", { className: "kl-said" }, ...line(question, result));
      said.setAttribute("role", "status");
      said.tabIndex = -1;
      ownKeys(said);
      place.replaceChildren(said);
      if (isNew) said.focus({ preventScroll: true });
    }

    let end = () => {};
    const make = (result) => {
      if (place.dataset.made) return;
      end();
      settle(result, true);
      keep(result);
    };
    const say = (said) => make({ said, right: isRight(question, said) });

    if (made) settle(made, false);
    else {
      const asked = element("p", { className: "kl-how" }, HOW[question.kind]);
      const show = element("button", { type: "button", className: "kl-show-me" }, "Show me");
      show.title = "What follows is closed until a prediction is made; this opens it without one";
      show.addEventListener("click", () => make({ shown: true }));
      let parts;
      if (question.kind === "order") parts = ordering(question, say);
      else if (question.kind === "point") ({ parts, end } = pointing(question, say, picture));
      else parts = question.options.length ? choices(question, say) : entry(question, say);
      place.append(asked, element("div", { className: "kl-answers" }, ...parts, show));
      ownKeys(...place.querySelectorAll("button, input"));
    }
    place.settle = (result) => { end(); settle(result, false); };
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

  return { element, form, told, fold, isRight, bringIntoView };
})();
