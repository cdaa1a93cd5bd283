// The first page: its player plays once, and each card says how far this reader has come.

(() => {
  window.kafkalearnPlayer.mountAll();
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches) document.querySelector(".opening [data-do=play]")?.click();
  const isDone = (entry) => entry?.outcome === "right" || entry?.outcome === "open";

  window.kafkalearnAnswers.read().then(({ record }) => {
    let next = null, isBegun = false;
    for (const card of document.querySelectorAll(".cards li")) {
      const ids = card.dataset.exercises.split(" ").filter(Boolean);
      const done = ids.filter((id) => isDone(record.exercises[id])).length;
      const tried = ids.some((id) => record.exercises[id]);
      const words = (done === ids.length ? "all " : done + " of ") + ids.length + " exercises done";
      if (ids.length) card.querySelector("[data-part=done]").textContent = words;
      if (ids.length && done === ids.length) card.dataset.is = "done";
      else if (ids.length && (!next || (tried && !next.tried))) next = { card, tried };
      isBegun ||= tried;
    }
    if (isBegun && next) {
      const link = Object.assign(document.createElement("a"), { href: next.card.querySelector("a").href });
      link.textContent = next.card.querySelector(".name").textContent;
      document.getElementById("go-on").append("You go on with ", link);
    }
    document.documentElement.dataset.answers = "read";
  });
})();
