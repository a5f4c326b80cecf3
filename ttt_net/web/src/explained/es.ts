/** How each game is explained in Spanish. */

import type { Explained } from "../rules.js";

export const explained: Explained = {
  pages: {
    tictactoe: [
      "Pon tres marcas tuyas en raya: en horizontal, en vertical o en diagonal.",
      "Un tablero lleno sin esa línea es tablas, y dos jugadores que piensan siempre llegan a ellas.",
      "Empieza en el centro: por él pasan cuatro de las ocho líneas.",
      "Amenaza dos líneas a la vez: tu rival solo puede cerrar una.",
      "X tiene las tres casillas de la fila central, a2, b2 y c2, y ha ganado.",
    ],
    misere: [
      "No pongas tres en raya: quien lo hace pierde.",
      "La línea es de quien pierde. Lo demás es como en el tres en raya: un tablero lleno sin línea es tablas.",
      "Si empiezas, ocupa el centro y luego siempre la casilla opuesta a la de tu rival: así nunca pierdes.",
      "Cuenta las casillas que aún son seguras para ti y deja menos a tu rival.",
      "O ha completado la columna c y ha perdido: gana X.",
    ],
    wild: [
      "Completa tres marcas iguales en raya, sean X u O.",
      "En cada jugada eliges qué marca pones. Ninguna marca es de nadie: la línea cuenta para quien la completa. Una jugada es una marca y una casilla, como Xb2.",
      "Nunca dejes dos marcas iguales en una línea cuya tercera casilla esté vacía: tu rival la completa.",
      "Después de una X en el centro, otra X pierde en el acto: la casilla opuesta completa la línea.",
      "El segundo jugador ha completado la columna b con una tercera X, en b3, y ha ganado.",
    ],
    vanishing: [
      "Pon tres marcas tuyas en raya: en horizontal, en vertical o en diagonal.",
      "Nunca tienes más de tres marcas. La cuarta borra la más vieja, cuya casilla queda libre desde la jugada siguiente. Una posición que aparece por tercera vez es tablas, y también una partida de 200 jugadas.",
      "Antes de jugar, mira cuál de tus marcas se borra: el tablero la señala.",
      "Dos en línea no amenazan nada si una de ellas está a punto de borrarse.",
      "X tiene a2, b2 y c2 y ha ganado. La cuarta marca de X, c2, ha borrado la primera, a3.",
    ],
    gomoku: [
      "Pon cinco o más marcas tuyas en raya: en horizontal, en vertical o en diagonal.",
      "Ninguna jugada está prohibida y más de cinco también valen. Empezar es una gran ventaja; gomoku+swap la compensa.",
      "Cierra una fila de tres abierta por los dos lados: cuatro con los dos extremos abiertos no se pueden parar.",
      "Busca una jugada que haga dos amenazas a la vez.",
      "X tiene las cinco casillas de f8 a j8 en raya y ha ganado.",
    ],
    connect4: [
      "Pon cuatro marcas tuyas en raya: en horizontal, en vertical o en diagonal.",
      "Una ficha cae a la casilla vacía más baja de su columna. Una jugada es el número de la columna.",
      "Empieza en el medio: por la columna central pasan más líneas que por ninguna otra.",
      "Antes de soltar una ficha, mira la casilla de encima: se la abres a tu rival.",
      "X tiene las casillas de las columnas 3 a 6 abajo y ha ganado. Antes de la última jugada X podía ganar en 2 y en 6: nadie puede cerrar las dos.",
    ],
    tictactoe3d: [
      "Pon tres marcas tuyas en raya en un cubo de 3×3×3, en cualquier dirección.",
      "Las líneas van en horizontal, en vertical y en diagonal, también de capa a capa. Un cubo lleno siempre tiene una línea, así que no hay tablas. Una jugada es capa y casilla, como 2:b2.",
      "El centro del cubo, 2:b2, está en 13 de las 49 líneas.",
      "Mira también a través de las capas: la misma casilla en las tres capas es una línea.",
      "X tiene una línea de esquina a esquina por el centro, 1:a3, 2:b2 y 3:c1, y ha ganado.",
    ],
    qubic: [
      "Pon cuatro marcas tuyas en raya en un cubo de 4×4×4, en cualquier dirección.",
      "Las líneas van en horizontal, en vertical y en diagonal, también de capa a capa: 76 en total. Una jugada es capa y casilla, como 1:a1.",
      "Las ocho esquinas y las ocho casillas del centro están en siete líneas cada una; las demás, en cuatro.",
      "Sigue haciendo treses que haya que cerrar hasta que una jugada haga dos a la vez.",
      "X tiene una línea de esquina a esquina, 1:a1, 2:b2, 3:c3 y 4:d4, y ha ganado.",
    ],
    scorefour: [
      "Pon cuatro marcas tuyas en raya en un cubo de 4×4×4, en cualquier dirección.",
      "Las fichas se apilan como cuentas en 4×4 varillas, con la capa 1 abajo. Una jugada es una varilla, como b3.",
      "Cuatro en una varilla también son una línea: pon una ficha encima de la tercera.",
      "Antes de apilar una ficha, mira la casilla de encima: se la abres a tu rival.",
      "X tiene las cuatro casillas de la varilla a1, una en cada capa, y ha ganado.",
    ],
    ultimate: [
      "Gana tres tableros pequeños en raya. Un tablero pequeño se gana con tres marcas tuyas en raya.",
      "Tu casilla elige el tablero de la jugada de tu rival: la de arriba a la derecha lo manda al tablero de arriba a la derecha. Si ese está ganado o lleno, elige tu rival. Si nadie logra tres, son tablas. La jugada 5:b2 es la casilla b2 del tablero 5; los tableros se numeran fila por fila.",
      "Mira adónde manda tu jugada a tu rival antes de mirar qué gana.",
      "No mandes a nadie sin necesidad a un tablero cerrado: entonces juega donde quiere.",
      "X ha ganado los tableros 1, 2 y 3, que están en raya, y con ellos la partida.",
    ],
  },
  swap: [
    "Una vez, en respuesta a la primera jugada, el segundo jugador puede quedarse con ella con la jugada swap: desde entonces es X, y el primero sigue como O.",
    "Empieza con una jugada ni muy buena ni muy mala: quizá tengas que jugar contra ella.",
  ],
  sized: ["Pon {0} o más marcas tuyas en raya: en horizontal, en vertical o en diagonal.", "Un tablero lleno sin esa línea es tablas.", "Empieza en el medio: por él pasan más líneas que por el borde."],
};
