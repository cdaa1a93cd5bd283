// Python stays from chapter to chapter: a page that holds it opens the book's other pages in a frame over itself.
// From file: nothing else survives a change of page. The address keeps the page on show after "#/", so that going back,
// loading anew and marking it work; without Python running, a link is a link.

(() => {
  if (window.parent !== window) {
    // This page is in the frame: its title and its links are the business of the page around it.
    window.parent.postMessage({ kafkalearn: "shown", title: document.title, address: location.href }, "*");
    return;
  }
  const START = "#/";
  let frame = null, endService = null;
  const title = document.title;

  const isOfBook = (address) => /^[\w.-]+\.html(#.*)?$/.test(address);
  const wanted = () => (location.hash.startsWith(START) ? location.hash.slice(START.length) : "");

  function show(address) {
    if (!frame) {
      frame = document.createElement("iframe");
      frame.className = "live-frame";
      frame.title = "The chapter";
      frame.src = address;
      document.body.append(frame);
      document.body.classList.add("live-framing");
    } else {
      frame.contentWindow.location.replace(new URL(address, location.href).href); // the hash alone makes the history
    }
  }

  function hide() {
    endService?.();
    endService = null;
    frame?.remove();
    frame = null;
    document.body.classList.remove("live-framing");
    document.title = title;
  }

  function follow() {
    const address = wanted();
    if (address) show(address);
    else hide();
  }

  // A link of this page leads into the frame as long as Python runs.
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href]");
    if (!link || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey || link.target) return;
    const address = link.getAttribute("href");
    if (!window.kafkalearn.isStarted || !isOfBook(address)) return;
    event.preventDefault();
    location.hash = START + address;
  });

  addEventListener("message", ({ data, source, ports }) => {
    if (!frame || source !== frame.contentWindow) return;
    if (data.kafkalearn === "port") {
      endService?.();
      endService = window.kafkalearn.serve(ports[0]);
    } else if (data.kafkalearn === "shown") {
      document.title = data.title;
      const address = data.address.split("/").pop();
      if (address !== wanted()) history.replaceState(null, "", START + address);
      frame.focus();
    }
  });
  addEventListener("hashchange", () => {
    if (wanted() || frame) follow();
  });
  if (isOfBook(wanted())) location.replace(wanted()); // loaded anew: Python is gone, so the page itself is shown
})();
