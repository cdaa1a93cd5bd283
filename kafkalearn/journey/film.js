// A film (kafkalearn.journey.film): the player plays a story by itself, and a click on a broker goes on with what follows
// from its death, which is drawn beforehand. What travels between two moments is told by the picture, in data-ways.

const mountFilms = (() => {
  const asksForStillness = matchMedia("(prefers-reduced-motion: reduce)");
  const SVG = "http://www.w3.org/2000/svg";
  const MOVE_MS = 300, MOVE_MS_PLAYED = 700; // by hand one does not want to wait

  function mountFilm(host) {
    const { film } = JSON.parse(host.querySelector("script").textContent);
    const state = { value: 0, _controls: "[]", _values: '{"asked":0,"values":[]}' }, listeners = {};
    const model = {
      get: (name) => state[name],
      set: (name, value) => { state[name] = value; },
      on: (name, call) => { listeners[name] = call; },
      save_changes() {}, off() {},
    };
    host.removeAttribute("data-kl-film");
    let moments = film.story, since = film.story.length - 1; // the last moment of the story in what is played

    function take(some, at, last) {
      [moments, since] = [some, last];
      state._animation = JSON.stringify({
        title: film.title, lines: film.lines, frames: some.map(([frame]) => film.frames[frame]), captions: some.map(([, words]) => film.captions[words]),
      });
      state.value = at;
      listeners["change:_animation"]?.();
    }

    take(film.story, 0, film.story.length - 1);
    render({ model, el: host });
    const [stage, bar, play, speed] = [".kl-stage", ".kl-bar", "[data-do=play]", "select"].map((each) => host.querySelector(each));
    const back = Object.assign(document.createElement("button"), { type: "button", textContent: "Undo", title: "Back to the moment before the broker died", hidden: true });
    play.after(back);
    speed.value = 0.5;
    const over = Object.assign(document.createElement("div"), { className: "kl-breaks" }), buttons = {};
    stage.before(over);
    let shown = 0, isInvited = false;
    const plays = () => play.textContent === "Pause";
    const start = () => { if (!plays()) play.click(); };

    function breakIt(name) {
      const at = state.value, rest = film.forks[at][name];
      if (plays()) play.click();
      take([...moments.slice(0, at + 1), ...rest], at + 1, at);
      if (!asksForStillness.matches) start();
    }

    back.addEventListener("click", () => {
      if (plays()) play.click();
      take(film.story, since, film.story.length - 1);
      place();
      over.querySelector("button:not([hidden])").focus({ preventScroll: true });
    });

    // A broker's place is a button over its box; one that has the keys keeps them from step to step, as long as it is there.
    function place() {
      const around = over.getBoundingClientRect(), forks = state.value <= since ? film.forks[state.value] : {};
      for (const box of stage.querySelectorAll("[data-broker]")) {
        const name = box.dataset.broker, button = buttons[name] ??= makeButton(name), isGone = !forks[name];
        if (isGone && button === document.activeElement) host.querySelector("input[type=range]").focus({ preventScroll: true });
        button.hidden = isGone;
        const { left, top, width, height } = box.getBoundingClientRect();
        Object.assign(button.style, { left: `${left - around.left - 2}px`, top: `${top - around.top - 2}px`, width: `${width + 4}px`, height: `${height + 4}px` });
        if (!isInvited && name === "broker 2" && state.value === 4) { button.classList.add("kl-invites"); isInvited = true; }
      }
      back.hidden = moments === film.story;
    }

    function makeButton(name) {
      const button = Object.assign(document.createElement("button"), { type: "button", className: "kl-break", title: `Let ${name} die` });
      button.dataset.broker = name;
      button.setAttribute("aria-label", `${name}: let it die`);
      button.addEventListener("click", () => breakIt(name));
      return over.appendChild(button);
    }

    function move(svg) {
      const ms = plays() ? MOVE_MS_PLAYED : MOVE_MS;
      for (const way of (svg.querySelector("[data-ways]")?.dataset.ways ?? "").split(";").filter(Boolean)) {
        const [words, ...numbers] = way.split(","), [x1, y1, x2, y2] = numbers.map(Number), width = 28 + 10 * Math.max(0, words.length - 2);
        const make = (name, attributes) => { const made = document.createElementNS(SVG, name); for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value); return made; };
        const pill = make("g", { class: "kl-way", "aria-hidden": "true" });
        const label = Object.assign(make("text", { x: x2, y: y2 + 5.5, "text-anchor": "middle", "font-size": 16 }), { textContent: words });
        pill.append(make("rect", { x: x2 - width / 2, y: y2 - 12, width, height: 24, rx: 12 }), label);
        for (const arrived of svg.querySelectorAll(`text[x="${x2}"]`)) {
          if (Math.abs(arrived.getAttribute("y") - y2 - 5.5) > 1) continue;
          for (const each of [arrived, arrived.previousElementSibling]) each.animate([{ opacity: 0 }, { opacity: 0 }], { duration: ms });
        }
        svg.append(pill);
        const moving = pill.animate([{ transform: `translate(${x1 - x2}px, ${y1 - y2}px)` }, { transform: "none" }], { duration: ms, easing: "ease-in-out" });
        moving.onfinish = moving.oncancel = () => pill.remove();
      }
    }

    function framed() {
      const svg = stage.querySelector("svg"), at = state.value;
      if (!svg) return;
      place();
      if (at === shown + 1 && !asksForStillness.matches) move(svg);
      shown = at;
    }

    new MutationObserver((records) => {
      if (records.some(({ addedNodes }) => [...addedNodes].some((each) => each.localName === "svg"))) framed();
    }).observe(stage, { childList: true });
    new ResizeObserver(place).observe(stage);
    framed();
    // It begins when it is seen, once.
    const seen = new IntersectionObserver((entries) => {
      if (!entries.some((each) => each.isIntersecting)) return;
      seen.disconnect();
      if (!asksForStillness.matches) start();
    }, { threshold: 0.35 });
    seen.observe(stage);
  }

  return (root = document) => root.querySelectorAll("[data-kl-film]").forEach(mountFilm);
})();
