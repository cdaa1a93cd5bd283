// A run that goes round (kafkalearn.base.trace.Trapped): a button in the player's bar that plays from where the loop
// begins to where it is there again, and on from there, until somebody stops it. It moves the player's own slider, so
// that all who hear of a step hear of these.

const ROUND_ICON =
  `<svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true">` +
  `<path d="M12 4V0L6 6l6 6V7a6 6 0 1 1-6 6H3a9 9 0 1 0 9-9z"/></svg>`;

function goRound(el, first) {
  const bar = el.querySelector(".kl-bar"), known = bar.querySelector(".kl-round");
  if (known) known.stop();
  if (first === undefined || first === null) return known?.remove();
  if (known) return void (known.first = first);
  const [slider, speed, playButton] = ["input", "select", "[data-do=play]"].map((each) => bar.querySelector(each));
  const caption = el.querySelector(".kl-caption"), button = document.createElement("button");
  let timer = null, rounds = 0;

  function show() {
    const words = timer === null ? "Round" : `Stop · round ${rounds}`;
    button.innerHTML = `${ROUND_ICON}<span>${words}</span>`;
    button.setAttribute("aria-pressed", String(timer !== null));
  }

  function go(to) {
    slider.value = to;
    slider.dispatchEvent(new Event("input", { bubbles: true }));
  }

  function step() {
    if (!el.isConnected) return button.stop();
    const at = Number(slider.value), isAround = at >= Number(slider.max);
    if (isAround) rounds += 1;
    go(isAround ? button.first + 1 : at + 1);
    show();
  }

  function start() {
    if (playButton.textContent === "Pause") playButton.click();
    caption.setAttribute("aria-live", "off"); // a screen reader could not keep up
    rounds = 1;
    go(button.first);
    timer = setInterval(step, 1000 / Number(speed.value));
    show();
  }

  button.stop = () => {
    if (timer === null) return;
    clearInterval(timer);
    timer = null;
    caption.setAttribute("aria-live", "polite");
    show();
  };
  const turn = () => (timer === null ? start() : button.stop());
  Object.assign(button, { type: "button", className: "kl-round", first, title: "The loop, round and round (r)" });
  button.style.gap = "6px";
  button.addEventListener("click", turn);
  speed.addEventListener("change", () => {
    if (timer !== null) { clearInterval(timer); timer = setInterval(step, 1000 / Number(speed.value)); }
  });
  slider.addEventListener("pointerdown", button.stop);
  el.addEventListener("click", (event) => { if (event.target.closest("[data-do]") && event.isTrusted) button.stop(); });
  el.addEventListener("keydown", (event) => {
    const isTyped = event.target.closest("select, textarea, input:not([type=range]), [contenteditable=true]");
    if (!button.isConnected || event.ctrlKey || event.metaKey || event.altKey || isTyped) return;
    if (event.key === "r") turn();
    else if (!["Tab", "Shift", "Enter", "f", "s"].includes(event.key) && !(event.key === " " && event.target === button)) button.stop();
  });
  show();
  playButton.after(button);
}

// In a static page: the players that say of themselves that they have a loop.
function goRoundAll() {
  for (const el of document.querySelectorAll(".kl-player[data-kl-loop]")) {
    if (el.querySelector(".kl-bar")) goRound(el, Number(el.dataset.klLoop));
  }
}
