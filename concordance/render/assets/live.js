/* Live updates: when the server announces a change, the content is fetched and replaced in place, keeping the scroll
   position and the focus. */
(function () {
  "use strict";
  var site = window.concordance, running = false, again = false;

  /* The path to an element: its id, or its position inside the content. */
  function way(element) {
    var steps = [], main = site.$("main");
    while (element && element !== main) {
      if (element.id) { steps.unshift("#" + element.id); break; }
      steps.unshift(Array.prototype.indexOf.call(element.parentNode.children, element));
      element = element.parentElement;
    }
    return steps;
  }
  function follow(steps) {
    var at = site.$("main");
    steps.forEach(function (step) {
      if (typeof step === "string") at = document.getElementById(step.slice(1)); else at = at && at.children[step];
    });
    return at;
  }

  function put(text) {
    var other = new DOMParser().parseFromString(text, "text/html");
    var fresh = other.querySelector("main"), main = site.$("main");
    if (!fresh || fresh.innerHTML === site.written) return false;
    site.written = fresh.innerHTML;
    var focused = main.contains(document.activeElement) && document.activeElement !== main ? way(document.activeElement) : null;
    var top = scrollY, left = scrollX;
    /* What is at the top of the window stays there, even if lines were inserted above it. */
    var held = site.all("main [id]").find(function (one) { return one.getBoundingClientRect().bottom > 60; });
    var before = held ? held.getBoundingClientRect().top : 0;
    var open = site.all("main details[open]").map(way);
    main.replaceChildren.apply(main, Array.from(document.importNode(fresh, true).childNodes));
    site.$("#outline").replaceChildren.apply(site.$("#outline"), Array.from(document.importNode(other.querySelector("#outline"), true).childNodes));
    document.title = other.title;
    open.forEach(function (steps) { var one = follow(steps); if (one && one.tagName === "DETAILS") one.open = true; });
    scrollTo(left, top);
    var now = held && document.getElementById(held.id);
    if (now && top > 0) scrollBy(0, now.getBoundingClientRect().top - before);
    var there = focused && follow(focused);
    if (there && there.focus) there.focus({ preventScroll: true });
    document.dispatchEvent(new Event("concordance:changed"));
    site.reachable();
    return true;
  }

  function refresh() {
    if (running) { again = true; return; }
    running = true;
    fetch(location.pathname + location.search, { cache: "no-cache" }).then(function (reply) {
      if (reply.status === 404) { site.say("This page no longer exists: its file was removed"); return null; }
      return reply.ok ? reply.text() : null;
    }).then(function (text) { if (text && put(text)) site.say("Updated"); }, function () { /* the next event tries again */ }).then(function () {
      running = false;
      if (again) { again = false; refresh(); }
    });
  }

  var reading = site.root.hasAttribute("data-reading");
  if (site.root.dataset.kind !== "search") {
    /* A browser has six connections for all tabs of a site, so a hidden tab holds none of them. */
    var events = null, version = null;
    var heard = function (event) {
      var before = version;
      try { version = JSON.parse(event.data).version; } catch (other) { version = event.data; }
      site.root.dataset.heard = "";
      if (reading ? version && version !== "reading" : before !== null && before !== version) {
        if (reading) location.reload(); else refresh();  /* the first event gives the current version */
      }
    };
    var listen = function () {
      if (events || document.visibilityState === "hidden") return;
      events = new EventSource(site.base + "events");
      events.onmessage = heard;
      events.addEventListener("changed", heard);
      if (reading) events.addEventListener("progress", site.showProgress);
    };
    var stop = function () {
      if (events) events.close();
      events = null;
    };
    document.addEventListener("visibilitychange", function () {
      if (document.visibilityState === "hidden") stop(); else listen();
    });
    addEventListener("pagehide", stop);
    addEventListener("pageshow", listen);
    listen();
  }
})();
