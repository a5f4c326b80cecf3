/** Rows of cells on a board of two or three dimensions. */

/** The lines of a given length through a cell; cells are numbered row by row, and layer by layer. */
export function lines(shape: number[], row: number, cell: number): number[][] {
  if (cell < 0) return [];
  const sides = shape.length === 3 ? shape : [1, ...shape];
  const [, height = 1, width = 1] = sides;
  const at = [Math.floor(cell / (width * height)), Math.floor(cell / width) % height, cell % width];
  const found: number[][] = [];
  for (const step of STEPS) {
    for (let back = 0; back < row; back++) {
      const places = Array.from({ length: row }, (_, n) => at.map((each, axis) => each + (n - back) * step[axis]!));
      const isInside = places.every((place) => place.every((each, axis) => each >= 0 && each < sides[axis]!));
      if (isInside) found.push(places.map(([z = 0, y = 0, x = 0]) => (z * height + y) * width + x));
    }
  }
  return found;
}

/** One of each pair of opposite directions. */
const STEPS: number[][] = [-1, 0, 1]
  .flatMap((z) => [-1, 0, 1].flatMap((y) => [-1, 0, 1].map((x) => [z, y, x])))
  .filter(([z = 0, y = 0, x = 0]) => z > 0 || (z === 0 && (y > 0 || (y === 0 && x > 0))));
