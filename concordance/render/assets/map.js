/* Zooms a map: buttons, the wheel with Ctrl, dragging. The drawing is a vector, so only its view box changes. */
(function () {
  "use strict";
  var MOST = 12;
  var make = window.concordance.make;

  function zoomable(figure) {
    var svg = figure.querySelector("svg");
    if (!svg) return;
    var whole = svg.viewBox.baseVal, width = whole.width, height = whole.height;
    var view = { x: 0, y: 0, scale: 1 }, held = null;

    function show() {
      var w = width / view.scale, h = height / view.scale;
      view.x = Math.max(0, Math.min(width - w, view.x));
      view.y = Math.max(0, Math.min(height - h, view.y));
      svg.setAttribute("viewBox", [view.x, view.y, w, h].join(" "));
      buttons.reset.disabled = buttons.out.disabled = view.scale === 1;
      buttons.in.disabled = view.scale === MOST;
      svg.classList.toggle("zoomed", view.scale > 1);
    }

    /* Zoom by a factor around a point, given as shares of the visible part. */
    function zoom(factor, atX, atY) {
      var scale = Math.max(1, Math.min(MOST, view.scale * factor));
      view.x += atX * (width / view.scale - width / scale);
      view.y += atY * (height / view.scale - height / scale);
      view.scale = scale;
      show();
    }

    function button(label, text, does) {
      var one = make("button", { type: "button", "aria-label": label }, text);
      one.addEventListener("click", does);
      return one;
    }
    var buttons = {
      in: button("Zoom in", "+", function () { zoom(1.6, .5, .5); }),
      out: button("Zoom out", "−", function () { zoom(1 / 1.6, .5, .5); }),
      reset: button("Show the whole map", "Whole", function () { view = { x: 0, y: 0, scale: 1 }; show(); })
    };
    figure.prepend(make("div", { class: "zoom", role: "group", "aria-label": "Zoom" }, buttons.in, buttons.out, buttons.reset));
    svg.addEventListener("wheel", function (event) {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      var box = svg.getBoundingClientRect();
      zoom(event.deltaY < 0 ? 1.25 : .8, (event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height);
    }, { passive: false });
    svg.addEventListener("pointerdown", function (event) {
      if (view.scale > 1) held = { x: event.clientX, y: event.clientY, moved: false };
    });
    svg.addEventListener("pointermove", function (event) {
      if (!held) return;
      var box = svg.getBoundingClientRect(), w = width / view.scale, h = height / view.scale;
      view.x -= (event.clientX - held.x) / box.width * w;
      view.y -= (event.clientY - held.y) / box.height * h;
      held = { x: event.clientX, y: event.clientY, moved: held.moved || Math.abs(event.movementX) + Math.abs(event.movementY) > 1 };
      show();
    });
    window.addEventListener("pointerup", function () { setTimeout(function () { held = null; }); });
    svg.addEventListener("click", function (event) { if (held && held.moved) event.preventDefault(); }, true);
    svg.addEventListener("dragstart", function (event) { if (view.scale > 1) event.preventDefault(); });
    show();
  }
  document.querySelectorAll(".map").forEach(zoomable);
})();
