/* my-bot: a program that reads questions and writes moves, a line each; ttt_net connects it to a server. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LINE = 4096, MOVES = 1024 };

/* Choose one of the legal moves. Your idea belongs here: `game` is the name of the game, `position` the board from the
   top with `/` between rows, `me` our mark, X or O. */
static const char *choose(const char *game, const char *position, char me, char **legal, int count) {
    (void)game, (void)position, (void)me;
    return legal[rand() % count];
}

int main(void) {
    static char line[LINE], game[LINE], position[LINE], moves[LINE];
    char *legal[MOVES];
    srand((unsigned)time(NULL));
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\r\n")] = 0;
        if (!strncmp(line, "tti ", 4)) {
            puts("id name my-bot\nttiok"); /* add a line such as "games connect4" if it plays only some */
        } else if (!strncmp(line, "position ", 9)) {
            char *space = strchr(line + 9, ' ');
            strcpy(position, space ? space + 1 : "");
            if (space) *space = 0;
            strcpy(game, line + 9);
        } else if (!strncmp(line, "legal ", 6)) {
            strcpy(moves, line + 6);
        } else if (!strncmp(line, "go ", 3)) {
            int count = 0;
            for (char *move = strtok(moves, " "); move && count < MOVES; move = strtok(NULL, " ")) legal[count++] = move;
            if (count) printf("bestmove %s\n", choose(game, position, line[3], legal, count));
        } else if (!strcmp(line, "quit")) {
            return 0;
        }
        fflush(stdout);
    }
    return 0;
}
