// Tests of my-bot: run them with `go test`. The sandbox needs Python and ttt_net.
package main

import (
	"os"
	"os/exec"
	"regexp"
	"testing"
)

func TestTheBotChoosesALegalMove(t *testing.T) {
	if move := choose(&Match{Position: Position{Legal: []int{7}}}); move != 7 {
		t.Fatal(move)
	}
}

func TestTheBotPlaysAWholeMatchOnAServerOfItsOwn(t *testing.T) {
	python := os.Getenv("PYTHON")
	if python == "" {
		python = "python3"
	}
	out, err := exec.Command(python, "-m", "ttt_net", "sandbox", "go", "run", ".", "--sandbox").CombinedOutput()
	if err != nil || !regexp.MustCompile(`: (won|lost|drawn) against `).Match(out) {
		t.Fatal(err, string(out))
	}
}
