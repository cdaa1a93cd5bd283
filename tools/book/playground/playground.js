// The playground: forms are asked of Python (tools.page.playground), and what comes is shown below each form.
// The address has the state: #part.asks?field=value&..., which this script reads when the page opens.

(() => {
  const python = window.kafkalearn;
  const status = document.getElementById("python");
  const parts = [...document.querySelectorAll("section.part")];
  const forms = [...document.querySelectorAll("form[data-asks]")];

  const element = (name, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };

  // --- the state: which form, and what is in its fields

  const asked = (form) => `${form.closest("section").id}.${form.dataset.asks}`;

  function fieldsOf(form) {
    const fields = {};
    for (const field of form.elements) {
      if (!field.name || field.type === "file") continue;
      fields[field.name] = field.type === "checkbox" ? field.checked : field.value;
    }
    return fields;
  }

  function stateOf(form) {
    const words = Object.entries(fieldsOf(form)).filter(([, value]) => value !== "" && value !== false);
    return `${asked(form)}?${new URLSearchParams(words)}`;
  }

  function showPart(id) {
    for (const part of parts) part.hidden = part.id !== id;
    for (const link of document.querySelectorAll("nav.parts a")) {
      if (link.hash === `#${id}`) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }

  // A picture is there to be touched, so it is drawn without being asked for; so is another one that is chosen.
  function drawAtOnce(id) {
    const form = forms.find((each) => each.matches(`#${id} [data-at-once]`));
    if (form && !form.nextElementSibling?.matches(".said")) ask(form, form.dataset.asks, fieldsOf(form));
  }
  document.querySelector("#touch [name=board]").addEventListener("change", ({ target: { form } }) => {
    form.elements.line.value = "";
    ask(form, "touched", fieldsOf(form));
  });

  function showChapters(board) {
    for (const each of document.querySelectorAll(".of-chapters[data-board]")) each.hidden = ![board, ""].includes(each.dataset.board);
  }

  // Opens a state: a whole link, or what stands behind its #. A part's name alone shows the part.
  function open(text) {
    const [name, query] = text.slice(text.indexOf("#") + 1).split(/\?(.*)/s);
    const [id] = name.split(".");
    if (!parts.some((part) => part.id === id)) return false;
    showPart(id);
    const form = forms.find((each) => asked(each) === name);
    if (!form || query === undefined) {
      drawAtOnce(id);
      return true;
    }
    const values = new URLSearchParams(query);
    for (const field of form.elements) {
      if (!field.name || field.type === "file") continue;
      if (field.type === "checkbox") field.checked = values.get(field.name) === "true";
      else if (values.has(field.name)) field.value = values.get(field.name);
      else if (field.localName !== "select") field.value = "";
    }
    ask(form, form.dataset.asks, fieldsOf(form));
    return true;
  }

  // --- asking, and showing what came

  function place(form) {
    form.parentNode.querySelector(".first")?.remove(); // what was drawn beforehand
    return form.nextElementSibling?.matches(".said") ? form.nextElementSibling : form.parentNode.insertBefore(
      element("div", { className: "said" }, element("pre", { className: "words" }), element("div", { className: "drawn" }),
        element("div", { className: "moves" }), element("p", { className: "link" })), form.nextSibling);
  }

  async function ask(form, name, fields) {
    if (fields.board) showChapters(fields.board);
    const said = place(form), words = said.querySelector(".words");
    const buttons = form.querySelectorAll("button");
    words.setAttribute("role", "status");
    words.textContent = "…";
    buttons.forEach((each) => { each.disabled = true; });
    const stop = element("button", { type: "button", textContent: "Stop", onclick: () => python.stop() });
    form.append(stop);
    try {
      await python.start((progress) => { words.textContent = `${progress} …`; });
      const result = await python.ask(`playground.${name}`, fields);
      const line = "line" in result && (name === "moves" || name === "touched") ? result.line : undefined;
      if (line !== undefined) form.elements.line.value = line;
      const state = stateOf(form);
      history.replaceState(null, "", `#${state}`);
      show(said, form, name, result);
      const link = element("input", { readOnly: true, value: location.href, onfocus: ({ target }) => target.select() });
      said.querySelector(".link").replaceChildren(element("label", { className: "grow" }, "This state as a link ", link));
    } catch (error) {
      words.textContent = error.message;
      said.classList.add("wrong");
      return;
    } finally {
      stop.remove();
      buttons.forEach((each) => { each.disabled = false; });
    }
    said.classList.remove("wrong");
  }

  function show(said, form, name, { text, html, animation, start, steps, line, places }) {
    said.querySelector(".words").textContent = text ?? "";
    const drawn = said.querySelector(".drawn"), moves = said.querySelector(".moves");
    if (name === "touched") return showTouched(drawn, form, { animation, start, line });
    if (name === "search") { // beside the run on show
      moves.querySelector(".found")?.remove();
      if (line) {
        const take = () => { form.elements.line.value = line; ask(form, "moves", fieldsOf(form)); };
        moves.prepend(element("p", { className: "found" }, element("button", { type: "button", textContent: "Play what was found", onclick: take })));
      }
      return;
    }
    drawn.innerHTML = html ?? ""; // made by Python, every value in it escaped
    dispatchEvent(new Event("kafkalearn:drawn"));
    moves.replaceChildren();
    if (animation) {
      const host = element("div");
      drawn.append(host);
      const state = { value: start, _animation: JSON.stringify(animation), _controls: "[]", _values: '{"asked":0,"values":[]}' };
      const stepped = () => { if (steps) showMoves(moves, form, steps, Number(form.dataset.step)); };
      form.dataset.step = start;
      const model = {
        isRecorded: true, get: (key) => state[key], save_changes() {}, on() {}, off() {},
        set(key, value) { state[key] = value; if (key === "value") { form.dataset.step = value; stepped(); } },
      };
      window.kafkalearnPlayer.render({ model, el: host });
      stepped();
      if (places) makeTouched(host, form, steps, places);
    }
  }

  // A picture of a chapter: what is touched in it is a line, asked for as if it had been typed.
  function showTouched(drawn, form, { animation, start, line }) {
    const values = { value: start, _animation: JSON.stringify(animation), _values: JSON.stringify({ asked: 0, values: [line] }) };
    if (drawn.touched?.board === form.elements.board.value) return drawn.touched.put(values);
    const state = { ...values, _controls: '[{"kind":"text","name":"run","label":"run"}]' }, heard = {};
    const model = {
      get: (key) => state[key], off() {},
      on(event, listener) { (heard[event] ??= []).push(listener); },
      set(key, value) {
        state[key] = value;
        if (key !== "_values") return;
        [form.elements.line.value] = JSON.parse(value).values;
        ask(form, "touched", fieldsOf(form));
      },
      save_changes() {},
    };
    const put = (given) => {
      const { asked } = JSON.parse(state._values);
      Object.assign(state, given, { _values: JSON.stringify({ asked, values: [line] }), _answer: JSON.stringify({ asked, message: "" }) });
      for (const key of ["_values", "_animation", "value", "_answer"]) heard[`change:${key}`]?.forEach((each) => each());
    };
    const host = element("div");
    drawn.replaceChildren(host);
    drawn.touched = { board: form.elements.board.value, put: (given) => { line = form.elements.line.value; put(given); } };
    window.kafkalearnPlayer.render({ model, el: host });
  }

  const movesOf = (form, count) => form.elements.line.value.split(">").map((each) => each.trim()).filter(Boolean).slice(0, count);

  // What may come after the step on show; a move at an earlier step begins a branch.
  function showMoves(host, form, steps, at) {
    const { moves, broken } = steps[at];
    const words = broken.length ? `Promise${broken.length > 1 ? "s" : ""} broken: ${broken.join("; ")}.` : "Every promise holds here.";
    const buttons = moves.map((move) => element("button", { type: "button", textContent: move, onclick: () => branch(form, at, move) }));
    const found = host.querySelector(".found");
    host.replaceChildren(...(found ? [found] : []), element("p", { className: broken.length ? "broken" : "" }, words),
      element("div", { className: "choices", role: "group", ariaLabel: "What happens next" }, ...buttons));
  }

  // The picture itself can be touched: a broker that is clicked says what may happen to it at the step on show.
  function makeTouched(host, form, steps, places) {
    const stage = host.querySelector(".kl-stage");
    let menu = null;
    const close = () => { menu?.remove(); menu = null; };
    const place = (event) => {
      const box = stage.querySelector("svg").getBoundingClientRect(), scale = stage.querySelector("svg").viewBox.baseVal.width / box.width;
      const x = (event.clientX - box.left) * scale, y = (event.clientY - box.top) * scale;
      return places.find(({ box: [left, top, width, height] }) => x >= left && x <= left + width && y >= top && y <= top + height);
    };
    stage.classList.add("touched");
    stage.addEventListener("pointermove", (event) => { stage.style.cursor = place(event) ? "pointer" : ""; });
    stage.addEventListener("click", (event) => {
      close();
      const touched = place(event);
      if (!touched) return;
      const at = Number(form.dataset.step), possible = steps[at].moves.filter((move) => move in touched.moves);
      const items = possible.map((move) => element("button", { type: "button", onclick: () => { close(); branch(form, at, move); } },
        element("strong", { textContent: move }), ` ${touched.moves[move]}`));
      menu = element("div", { className: "touch-menu", role: "group", ariaLabel: `What happens to ${touched.name}`,
        onkeydown: (key) => { if (key.key === "Escape") { key.stopPropagation(); close(); } } },
        element("p", { textContent: items.length ? `${touched.name} …` : `Nothing can happen to ${touched.name} here.` }), ...items);
      const around = stage.getBoundingClientRect();
      menu.style.left = `${Math.max(0, Math.min(event.clientX - around.left, around.width - 330))}px`;
      menu.style.top = `${event.clientY - around.top + 8}px`;
      stage.append(menu);
      menu.addEventListener("click", (inside) => inside.stopPropagation());
      items[0]?.focus({ preventScroll: true });
    });
  }

  function branch(form, at, move) {
    form.elements.line.value = [...movesOf(form, at), move].join(" > ");
    ask(form, "moves", fieldsOf(form));
  }

  // --- what the reader does

  for (const form of forms) {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const button = event.submitter, fields = fieldsOf(form);
      if (button?.dataset.at === "step") fields.line = movesOf(form, Number(form.dataset.step ?? 99)).join(" > ");
      ask(form, button?.dataset.asks ?? form.dataset.asks, fields);
    });
    if (form.matches(".drop")) makeDrop(form);
  }

  async function take(form, file) {
    const field = form.querySelector("[data-as=base64]");
    if (!field) {
      form.querySelector("textarea").value = await file.text();
      ask(form, form.dataset.asks, fieldsOf(form));
      return;
    }
    const reader = new FileReader();
    reader.onload = () => ask(form, form.dataset.asks, { file: file.name, data: reader.result.split(",")[1] ?? "" });
    reader.onerror = () => { place(form).querySelector(".words").textContent = `${file.name} cannot be read`; };
    reader.readAsDataURL(file);
  }

  function makeDrop(form) {
    form.querySelector("input[type=file]")?.addEventListener("change", ({ target }) => {
      if (target.files[0]) take(form, target.files[0]);
    });
    form.addEventListener("dragover", (event) => event.preventDefault());
    form.addEventListener("drop", (event) => {
      if (!event.dataTransfer.files[0]) return;
      event.preventDefault();
      take(form, event.dataTransfer.files[0]);
    });
  }

  const opener = document.getElementById("open");
  opener.addEventListener("submit", (event) => {
    event.preventDefault();
    status.textContent = open(opener.elements.state.value.trim()) ? "" : "This is no state of this page: it begins with a part's name, such as place.coordinator?group=billing";
  });
  addEventListener("hashchange", () => open(location.hash));
  showChapters(document.querySelector("#touch [name=board]").value);
  if (!open(location.hash)) showPart(parts[0].id);
})();
