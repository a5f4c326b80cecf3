/** How each game is explained in Portuguese. */

import type { Explained } from "../rules.js";

export const explained: Explained = {
  pages: {
    tictactoe: [
      "Faça três marcas suas em linha: na horizontal, na vertical ou na diagonal.",
      "Um tabuleiro cheio sem essa linha é empate, e dois jogadores atentos sempre chegam lá.",
      "Comece no centro: quatro das oito linhas passam por ele.",
      "Ameace duas linhas ao mesmo tempo: o adversário só consegue bloquear uma.",
      "X tem as três casas da fileira do meio, a2, b2 e c2, e venceu.",
    ],
    misere: [
      "Não faça três em linha: quem fizer perde.",
      "A linha é de quem perde. O resto é como no jogo da velha: um tabuleiro cheio sem linha é empate.",
      "Se você começa, ocupe o centro e depois sempre a casa oposta à do adversário: assim nunca perde.",
      "Conte as casas que ainda são seguras para você e deixe menos ao adversário.",
      "O completou a coluna c e perdeu: X venceu.",
    ],
    wild: [
      "Complete três marcas iguais em linha, sejam X ou O.",
      "A cada lance você escolhe que marca põe. Nenhuma marca é de ninguém: a linha vale para quem a completa. Um lance é uma marca e uma casa, como Xb2.",
      "Nunca deixe duas marcas iguais numa linha cuja terceira casa está vazia: o adversário a completa.",
      "Depois de um X no centro, outro X perde na hora: a casa oposta completa a linha.",
      "O segundo jogador completou a coluna b com um terceiro X, em b3, e venceu.",
    ],
    vanishing: [
      "Faça três marcas suas em linha: na horizontal, na vertical ou na diagonal.",
      "Você nunca tem mais de três marcas. A quarta apaga a mais antiga, cuja casa fica livre a partir do lance seguinte. Uma posição que aparece pela terceira vez é empate, e também uma partida de 200 lances.",
      "Antes de jogar, veja qual das suas marcas some: o tabuleiro mostra.",
      "Duas em linha não ameaçam nada se uma delas está para sumir.",
      "X tem a2, b2 e c2 e venceu. A quarta marca de X, c2, apagou a primeira, a3.",
    ],
    gomoku: [
      "Faça cinco ou mais marcas suas em linha: na horizontal, na vertical ou na diagonal.",
      "Nenhum lance é proibido, e mais de cinco também valem. Começar é uma grande vantagem; gomoku+swap a compensa.",
      "Bloqueie uma fileira de três aberta dos dois lados: quatro com as duas pontas abertas não se param.",
      "Procure um lance que faça duas ameaças ao mesmo tempo.",
      "X tem as cinco casas de f8 a j8 em linha e venceu.",
    ],
    connect4: [
      "Faça quatro peças suas em linha: na horizontal, na vertical ou na diagonal.",
      "Uma peça cai na casa livre mais baixa da sua coluna. Um lance é o número da coluna.",
      "Comece no meio: pela coluna central passam mais linhas do que por qualquer outra.",
      "Antes de soltar uma peça, olhe a casa de cima: você a abre ao adversário.",
      "X tem as casas das colunas 3 a 6 embaixo e venceu. Antes do último lance X podia vencer em 2 e em 6: ninguém bloqueia as duas.",
    ],
    tictactoe3d: [
      "Faça três marcas suas em linha num cubo 3×3×3, em qualquer direção.",
      "As linhas vão na horizontal, na vertical e na diagonal, também de camada a camada. Um cubo cheio sempre tem uma linha, portanto não há empate. Um lance é camada e casa, como 2:b2.",
      "O centro do cubo, 2:b2, está em 13 das 49 linhas.",
      "Olhe também através das camadas: a mesma casa nas três camadas é uma linha.",
      "X tem uma linha de canto a canto pelo centro, 1:a3, 2:b2 e 3:c1, e venceu.",
    ],
    qubic: [
      "Faça quatro marcas suas em linha num cubo 4×4×4, em qualquer direção.",
      "As linhas vão na horizontal, na vertical e na diagonal, também de camada a camada: 76 ao todo. Um lance é camada e casa, como 1:a1.",
      "Os oito cantos e as oito casas do meio estão em sete linhas cada um; as outras, em quatro.",
      "Continue fazendo trincas que têm de ser bloqueadas até que um lance faça duas.",
      "X tem uma linha de canto a canto, 1:a1, 2:b2, 3:c3 e 4:d4, e venceu.",
    ],
    scorefour: [
      "Faça quatro peças suas em linha num cubo 4×4×4, em qualquer direção.",
      "As peças empilham como contas em 4×4 pinos, com a camada 1 embaixo. Um lance é um pino, como b3.",
      "Quatro num pino também são uma linha: ponha uma peça sobre a terceira.",
      "Antes de empilhar uma peça, olhe a casa de cima: você a abre ao adversário.",
      "X tem as quatro casas do pino a1, uma em cada camada, e venceu.",
    ],
    ultimate: [
      "Vença três tabuleiros pequenos em linha. Um tabuleiro pequeno se vence com três marcas suas em linha.",
      "A sua casa escolhe o tabuleiro do lance do adversário: a de cima à direita manda para o tabuleiro de cima à direita. Se ele está vencido ou cheio, o adversário escolhe. Se ninguém faz três, é empate. O lance 5:b2 é a casa b2 do tabuleiro 5; os tabuleiros são numerados fileira por fileira.",
      "Veja para onde o seu lance manda o adversário antes de ver o que ele ganha.",
      "Não mande ninguém sem necessidade a um tabuleiro fechado: aí se joga onde se quer.",
      "X venceu os tabuleiros 1, 2 e 3, que estão em linha, e com eles a partida.",
    ],
  },
  swap: [
    "Uma vez, em resposta ao primeiro lance, o segundo jogador pode ficar com ele com o lance swap: daí em diante é X, e o primeiro segue como O.",
    "Comece com um lance nem bom demais nem ruim demais: talvez tenha de jogar contra ele.",
  ],
  sized: ["Faça {0} ou mais marcas suas em linha: na horizontal, na vertical ou na diagonal.", "Um tabuleiro cheio sem essa linha é empate.", "Comece no meio: por ele passam mais linhas do que pela borda."],
};
