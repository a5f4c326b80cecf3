/** How strong the levels of bots are in each game: Elo points above level 1, as `ELO` of the server's rules. */

export const ELO: Record<string, number[]> = {
  tictactoe: [0, 55, 100, 145, 190, 240, 280, 305],
  misere: [0, 35, 75, 105, 160, 205, 265, 295],
  wild: [0, 15, 50, 90, 145, 200, 235, 275],
  vanishing: [0, 65, 170, 240, 380, 430, 590, 730],
  gomoku: [0, 120, 300, 480, 595, 705, 830, 960],
  connect4: [0, 90, 180, 270, 355, 450, 540, 630],
  tictactoe3d: [0, 90, 135, 160, 230, 265, 300, 345],
  qubic: [0, 115, 245, 345, 415, 605, 800, 975],
  scorefour: [0, 160, 320, 405, 495, 610, 760, 860],
  ultimate: [0, 135, 265, 365, 515, 620, 735, 845],
};
