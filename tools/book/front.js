// The first page: its film plays, and each card says how far this reader has come.

(() => {
  window.kafkalearnPlayer.mountFilms();
  const isDone = (entry) => entry?.outcome === "right" || entry?.outcome === "open";

  window.kafkalearnAnswers.read().then(({ record, places }) => {
    const [page, place] = Object.entries(places).at(-1) ?? []; // where the reader has stopped
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
    const read = page && document.querySelector('.cards li:not([data-is=done]) a[href="' + page + '"]');
    const link = document.createElement("a");
    if (read) {
      Object.assign(link, { href: page + "#" + place.anchor, textContent: place.words });
      document.getElementById("go-on").append("You stopped in ", read.querySelector(".name").textContent, " at ", link);
    } else if (isBegun && next) {
      Object.assign(link, { href: next.card.querySelector("a").href, textContent: next.card.querySelector(".name").textContent });
      document.getElementById("go-on").append("You go on with ", link);
    }
    document.documentElement.dataset.answers = "read";
  });
})();
