/** A QR code of an address, as SVG; loaded when an invitation is shown. */

import { h, type Tree } from "./dom.js";
import { w } from "./i18n.js";
import { generate, mode } from "lean-qr";

const QUIET = 4;

export function qrCode(text: string): Tree {
  const code = generate(mode.ascii(text));
  const { size } = code;
  const cells = Array.from({ length: size * size }, (_, n) => [n % size, Math.floor(n / size)] as const);
  const dark = cells.filter(([x, y]) => code.get(x, y)).map(([x, y]) => `M${x} ${y}h1v1h-1z`);
  const side = size + 2 * QUIET;
  return h(
    "figure.qr",
    h("svg", { viewBox: `${-QUIET} ${-QUIET} ${side} ${side}`, role: "img", label: w.scanThis }, h("rect", { x: -QUIET, y: -QUIET, width: side, height: side }), h("path", { d: dark.join("") })),
    h("figcaption.quiet", w.scanThis),
  );
}
