/* Marks the section that is being read in the outline. */
(function () {
  "use strict";
  var site = window.concordance, links = [], heads = [], wanted = false;

  function gather() {
    links = site.all("#outline a");
    heads = links.map(function (link) { return document.getElementById(decodeURIComponent(link.hash.slice(1))); });
    mark();
  }

  function mark() {
    wanted = false;
    var now = -1;
    for (var place = 0; place < heads.length; place++) {
      if (heads[place] && heads[place].getBoundingClientRect().top < 120) now = place;
    }
    /* The last headings of a page cannot scroll to the top: there the one in the address counts. */
    if (innerHeight + scrollY >= document.documentElement.scrollHeight - 2) {
      var asked = links.findIndex(function (link) { return link.hash === location.hash; });
      if (asked > now) now = asked;
    }
    links.forEach(function (link, place) {
      if (place === now) {
        if (link.hasAttribute("aria-current")) return;
        link.setAttribute("aria-current", "true");
        var nav = site.$("#outline"), at = link.offsetTop - nav.clientHeight / 2;
        if (nav.scrollHeight > nav.clientHeight) nav.scrollTop = at;
      } else link.removeAttribute("aria-current");
    });
  }

  addEventListener("scroll", function () {
    if (!wanted) { wanted = true; requestAnimationFrame(mark); }
  }, { passive: true });
  addEventListener("hashchange", mark);
  document.addEventListener("concordance:changed", gather);
  gather();
})();
