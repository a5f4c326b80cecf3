/** How each game is explained in French. */

import type { Explained } from "../rules.js";

export const explained: Explained = {
  pages: {
    tictactoe: [
      "Alignez trois de vos marques : en ligne, en colonne ou en diagonale.",
      "Un plateau plein sans une telle ligne est nul, et deux joueurs attentifs y arrivent toujours.",
      "Commencez au centre : quatre des huit lignes y passent.",
      "Menacez deux lignes à la fois : l’adversaire ne peut en bloquer qu’une.",
      "X a les trois cases de la rangée du milieu, a2, b2 et c2, et a gagné.",
    ],
    misere: [
      "N’alignez pas trois marques : qui le fait a perdu.",
      "La ligne est celle du perdant. Le reste est comme au morpion : un plateau plein sans ligne est nul.",
      "Si vous commencez, prenez le centre, puis toujours la case opposée à celle de l’adversaire : ainsi vous ne perdez jamais.",
      "Comptez les cases encore sûres pour vous, et laissez-en moins à l’adversaire.",
      "O a complété la colonne c et a perdu : X gagne.",
    ],
    wild: [
      "Alignez trois marques pareilles, que ce soient des X ou des O.",
      "À chaque coup vous choisissez la marque que vous posez. Aucune n’est à personne : la ligne compte pour qui la complète. Un coup est une marque et une case, comme Xb2.",
      "Ne laissez jamais deux marques pareilles sur une ligne dont la troisième case est vide : l’adversaire la complète.",
      "Après un X au centre, un autre X perd aussitôt : la case opposée complète la ligne.",
      "Le second joueur a complété la colonne b par un troisième X, en b3, et a gagné.",
    ],
    vanishing: [
      "Alignez trois de vos marques : en ligne, en colonne ou en diagonale.",
      "Vous n’avez jamais plus de trois marques. La quatrième efface la plus ancienne, dont la case est libre dès le coup suivant. Une position qui revient pour la troisième fois est nulle, et une partie de 200 coups aussi.",
      "Avant de jouer, regardez laquelle de vos marques s’efface : le plateau la montre.",
      "Deux sur une ligne ne menacent rien si l’une d’elles va s’effacer.",
      "X a a2, b2 et c2 et a gagné. La quatrième marque de X, c2, a effacé la première, a3.",
    ],
    gomoku: [
      "Alignez cinq de vos marques ou plus : en ligne, en colonne ou en diagonale.",
      "Aucun coup n’est interdit, et plus de cinq comptent aussi. Commencer est un grand avantage ; gomoku+swap le compense.",
      "Bloquez une rangée de trois ouverte des deux côtés : quatre aux deux bouts ouverts ne s’arrêtent plus.",
      "Cherchez un coup qui fait deux menaces à la fois.",
      "X a les cinq cases de f8 à j8 alignées et a gagné.",
    ],
    connect4: [
      "Alignez quatre de vos pions : en ligne, en colonne ou en diagonale.",
      "Un pion tombe dans la case libre la plus basse de sa colonne. Un coup est le numéro de la colonne.",
      "Commencez au milieu : plus de lignes passent par la colonne centrale que par toute autre.",
      "Avant de lâcher un pion, regardez la case au-dessus : vous l’ouvrez à l’adversaire.",
      "X a les cases des colonnes 3 à 6 en bas et a gagné. Avant le dernier coup, X pouvait gagner en 2 et en 6 : personne ne peut bloquer les deux.",
    ],
    tictactoe3d: [
      "Alignez trois de vos marques dans un cube de 3×3×3, dans n’importe quel sens.",
      "Les lignes vont en large, en haut et en diagonale, aussi d’un étage à l’autre. Un cube plein a toujours une ligne : il n’y a pas de nulle. Un coup est un étage et une case, comme 2:b2.",
      "Le centre du cube, 2:b2, est sur 13 des 49 lignes.",
      "Regardez aussi à travers les étages : la même case sur les trois étages est une ligne.",
      "X a une ligne d’un coin à l’autre par le centre, 1:a3, 2:b2 et 3:c1, et a gagné.",
    ],
    qubic: [
      "Alignez quatre de vos marques dans un cube de 4×4×4, dans n’importe quel sens.",
      "Les lignes vont en large, en haut et en diagonale, aussi d’un étage à l’autre : 76 en tout. Un coup est un étage et une case, comme 1:a1.",
      "Les huit coins et les huit cases du milieu sont sur sept lignes chacun, les autres sur quatre.",
      "Faites sans cesse des trois qu’il faut bloquer, jusqu’à ce qu’un coup en fasse deux.",
      "X a une ligne d’un coin à l’autre, 1:a1, 2:b2, 3:c3 et 4:d4, et a gagné.",
    ],
    scorefour: [
      "Alignez quatre de vos pions dans un cube de 4×4×4, dans n’importe quel sens.",
      "Les pions s’enfilent comme des perles sur 4×4 tiges, l’étage 1 en bas. Un coup est une tige, comme b3.",
      "Quatre sur une tige sont aussi une ligne : posez un pion sur le troisième.",
      "Avant d’empiler un pion, regardez la case au-dessus : vous l’ouvrez à l’adversaire.",
      "X a les quatre cases de la tige a1, une à chaque étage, et a gagné.",
    ],
    ultimate: [
      "Gagnez trois petits plateaux alignés. Un petit plateau se gagne par trois de vos marques alignées.",
      "Votre case choisit le plateau du coup adverse : une case en haut à droite envoie au plateau en haut à droite. S’il est gagné ou plein, l’adversaire choisit. Si personne n’en a trois, c’est nul. Le coup 5:b2 est la case b2 du plateau 5 ; les plateaux sont comptés rangée par rangée.",
      "Regardez où votre coup envoie l’adversaire avant de regarder ce qu’il gagne.",
      "N’envoyez personne sans besoin sur un plateau fermé : on y joue alors où l’on veut.",
      "X a gagné les plateaux 1, 2 et 3, qui sont alignés, et avec eux la partie.",
    ],
  },
  swap: [
    "Une fois, en réponse au premier coup, le second joueur peut le prendre à son compte par le coup swap : il est X dès lors, et le premier continue avec O.",
    "Commencez par un coup ni trop bon ni trop mauvais : vous pourriez devoir jouer contre lui.",
  ],
  sized: ["Alignez {0} de vos marques ou plus : en ligne, en colonne ou en diagonale.", "Un plateau plein sans une telle ligne est nul.", "Commencez au milieu : plus de lignes y passent que par le bord."],
};
