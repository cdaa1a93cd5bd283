// Controls drawn from their description (kafkalearn.drawing.controls): the same in a notebook and on a page.
// A change is sent as `_values`; the answer is another animation, and `_answer` with what was wrong, if anything was.

const PATIENCE_MS = 5000;
const SILENT = "Python has not answered, so this stands where it stood. If no kernel runs, run this cell again; a busy one answers later.";
const ALONE = "No kernel stands behind this picture any more, so it stands where it stood: run this cell again to change it.";
const RECORDED = "Recorded with these values. In JupyterLab, run this cell to change them.";

function labelled(words, input) {
  const label = document.createElement("label");
  const name = document.createElement("span");
  name.textContent = words;
  label.append(name, input);
  return label;
}

function field(type, properties = {}) {
  return Object.assign(document.createElement("input"), { type, autocomplete: "off", spellcheck: false }, properties);
}

// Each kind: its element, how a value is shown in it, and the value it stands at; undefined is none yet.
function drawSlider({ label, low, high, words }) {
  const input = field("range", { min: low, max: high, step: 1 });
  const shown = document.createElement("output");
  const say = () => {
    shown.textContent = words[input.value] ?? Number(input.value).toLocaleString("en");
    input.setAttribute("aria-valuetext", shown.textContent);
  };
  input.addEventListener("input", say);
  const whole = labelled(label, input);
  whole.append(shown);
  say(); // where the browser has put it already is no change for `take`
  return { whole, put: (value) => { input.value = value; say(); }, get: () => Number(input.value) };
}

function drawChoice({ label, options }) {
  const select = document.createElement("select");
  select.append(...options.map((words, at) => new Option(words, at)));
  const put = (value) => { select.value = value; };
  return { whole: labelled(label, select), put, get: () => Number(select.value) };
}

function drawTick({ label }) {
  const input = field("checkbox");
  return { whole: labelled(label, input), put: (value) => { input.checked = value; }, get: () => input.checked };
}

function drawNumber({ label }) {
  const input = field("number", { step: 1 });
  const get = () => (Number.isSafeInteger(input.valueAsNumber) ? input.valueAsNumber : undefined);
  return { whole: labelled(label, input), put: (value) => { input.value = value; }, get };
}

function drawText({ label }) {
  const input = field("text", { size: 16 });
  return { whole: labelled(label, input), put: (value) => { input.value = value; }, get: () => input.value };
}

const KINDS = { slider: drawSlider, choice: drawChoice, tick: drawTick, number: drawNumber, text: drawText };

// Fills `place` and returns how to take it apart again; without controls it stays hidden.
function mountControls(model, place) {
  const controls = JSON.parse(model.get("_controls") || "[]").map((each) => KINDS[each.kind](each));
  place.hidden = controls.length === 0;
  if (place.hidden) return () => {};
  const message = document.createElement("div");
  message.className = "kl-message";
  message.setAttribute("role", "status");
  const fields = document.createElement("fieldset");
  fields.append(...controls.map((each) => each.whole));
  place.append(fields, message);
  let asked = JSON.parse(model.get("_values")).asked, timer = null;
  let answered = JSON.parse(model.get("_values")).values; // what the picture on show was drawn with

  function say(words, isWrong) {
    message.textContent = words;
    message.classList.toggle("kl-wrong", isWrong);
  }

  function ask() {
    const values = controls.map((each) => each.get());
    if (values.includes(undefined)) return say("Type a whole number.", true);
    if (place.closest(".jupyter-widgets-disconnected")) return goBack(ALONE); // JupyterLab knows: no need to wait
    asked += 1;
    model.set("_values", JSON.stringify({ asked, values }));
    model.save_changes();
    timer ??= setTimeout(goBack, PATIENCE_MS, SILENT);
  }

  function goBack(words) {
    answered.forEach((value, at) => controls[at].put(value));
    say(words, true);
  }

  function take() {
    const known = JSON.parse(model.get("_values"));
    if (known.asked === asked) known.values.forEach((value, at) => {
      if (controls[at].get() !== value) controls[at].put(value);
    });
  }

  function hear() {
    const answer = JSON.parse(model.get("_answer") || "{}");
    if (answer.asked !== asked) return; // the answer to an older question: the last one is still under way
    clearTimeout(timer);
    timer = null;
    if (answer.message === "") answered = JSON.parse(model.get("_values")).values;
    take(); // after a silence they stand where they stood
    say(answer.message, answer.message !== "");
  }

  take();
  if (model.isRecorded) {
    fields.disabled = true;
    say(RECORDED, false);
  }
  fields.addEventListener("input", ask);
  model.on("change:_values", take);
  model.on("change:_answer", hear);
  return () => {
    clearTimeout(timer);
    model.off("change:_values", take);
    model.off("change:_answer", hear);
  };
}
