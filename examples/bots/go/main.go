// my-bot: `go run . ws://HOST:8765` plays on that server until Ctrl-C.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"math/rand"
	"os"
	"time"

	"github.com/gorilla/websocket"
)

const (
	name      = "my-bot"
	tokenFile = "my-bot.token" // makes the bot the same player next time
)

var (
	games  = []string{} // such as "connect4", "gomoku"; none are all games
	pauses = []time.Duration{50, 100, 250, 500, 1000, 2000, 5000}
	giveUp = []int{1000, 1002, 1003, 1007, 1008, 1009, 4001, 4005}
)

// Position is a board, with whose turn it is.
type Position struct {
	Ply    int    `json:"ply"`
	Board  string `json:"board"` // one character a cell, row by row: X, O or .
	ToMove *int   `json:"to_move"`
	Legal  []int  `json:"legal"` // numbers of moves
}

// Match is one of our matches.
type Match struct {
	You     int
	Players []struct{ Name string }
	Names   []string // the name of every move, by number
	Position

	seq      int  // the number of the newest event
	isBehind bool // whether events are missing, and a snapshot is on its way
}

// message has the fields of all messages that we use.
type message struct {
	Type      string                  `json:"type"`
	ID        int                     `json:"id"`
	Code      string                  `json:"code"`
	Message   string                  `json:"message"`
	WaitMs    *int                    `json:"retry_after_ms"`
	Token     string                  `json:"token"`
	Matches   []string                `json:"matches"`
	Seek      json.RawMessage         `json:"seek"` // of welcome, our search if it still stands
	Match     string                  `json:"match"`
	Seq       int                     `json:"seq"`
	You       json.RawMessage         `json:"you"` // of welcome a player, of a snapshot a side
	Players   []struct{ Name string } `json:"players"`
	Position  *Position               `json:"position"`
	Challenge int                     `json:"challenge"`
	Winner    *int                    `json:"winner"`
	Reason    string                  `json:"reason"`
	Game      struct {
		MoveNames []string `json:"move_names"`
	} `json:"game"`
	Outcome *struct {
		Winner *int   `json:"winner"`
		Reason string `json:"reason"`
	} `json:"outcome"`
}

type request map[string]any

type bot struct {
	isSandbox bool
	token     string
	socket    *websocket.Conn
	matches   map[string]*Match
	asked     map[int]request
	again     chan request
	lastID    int
	isDone    bool
}

// choose returns one of the legal moves. Your idea belongs here.
func choose(match *Match) int {
	return match.Legal[rand.Intn(len(match.Legal))]
}

// say sends a request. If that fails, the connection is at its end, and whoever reads it learns why.
func (b *bot) say(kind string, fields request) {
	b.lastID++
	said := request{"type": kind, "id": b.lastID}
	for key, value := range fields {
		said[key] = value
	}
	b.asked[b.lastID] = said
	_ = b.socket.WriteJSON(said)
}

func (b *bot) hello() {
	who := request{"protocols": []int{1}, "bot": "go"}
	if b.token != "" {
		who["token"] = b.token
	} else {
		who["name"] = name
	}
	b.say("hello", who)
}

func (b *bot) seek() {
	if len(b.matches) > 0 {
		return
	}
	opponents := "people"
	if b.isSandbox {
		opponents = "bots"
	}
	b.say("seek", request{"games": games, "opponents": opponents})
}

func (b *bot) think(id string) {
	match := b.matches[id]
	if match.ToMove != nil && *match.ToMove == match.You {
		b.say("play", request{"match": id, "ply": match.Ply, "move": choose(match)})
	}
}

func (b *bot) finish(id string, winner *int, reason string) {
	match, isOurs := b.matches[id]
	if !isOurs {
		return
	}
	delete(b.matches, id)
	result := "lost"
	switch {
	case reason == "abort":
		result = "aborted"
	case winner == nil:
		result = "drawn"
	case *winner == match.You:
		result = "won"
	}
	fmt.Printf("%s: %s against %s (%s)\n", id, result, match.Players[1-match.You].Name, reason)
	b.isDone = b.isSandbox
	if !b.isDone {
		b.seek()
	}
}

func (b *bot) refused(m message) error {
	said := b.asked[m.ID]
	delete(b.asked, m.ID)
	kind, _ := said["type"].(string)
	switch {
	case kind == "hello" && m.Code == "unknown_token": // the server has forgotten us
		b.token = ""
		b.hello()
	case m.WaitMs != nil && kind != "":
		again := b.again
		time.AfterFunc(time.Duration(*m.WaitMs)*time.Millisecond, func() { again <- said })
	case kind == "hello" || kind == "seek":
		b.isDone = true
		return errors.New(m.Message)
	case kind == "resume":
		delete(b.matches, said["match"].(string))
		b.seek()
	}
	return nil // any other refusal changes nothing, and the next event says how things stand
}

func (b *bot) welcomed(m message) error {
	var you struct{ Name string }
	if err := json.Unmarshal(m.You, &you); err != nil {
		return err
	}
	fmt.Println("playing as", you.Name)
	if m.Token != "" {
		b.token = m.Token
		if !b.isSandbox {
			if err := os.WriteFile(tokenFile, []byte(m.Token), 0o600); err != nil {
				return err
			}
		}
	}
	for _, id := range m.Matches {
		b.say("resume", request{"match": id, "seq": 0})
	}
	if len(m.Matches) == 0 && m.Seek == nil {
		b.seek()
	}
	return nil
}

func (b *bot) hear(m message) error {
	if match := b.matches[m.Match]; match != nil && m.Type != "snapshot" && m.Seq > 0 {
		if match.isBehind || m.Seq <= match.seq {
			return nil
		}
		if match.isBehind = m.Seq > match.seq+1; match.isBehind {
			b.say("resume", request{"match": m.Match, "seq": match.seq})
			return nil
		}
		match.seq = m.Seq
	}
	switch m.Type {
	case "ok":
		delete(b.asked, m.ID)
	case "refused":
		return b.refused(m)
	case "welcome":
		return b.welcomed(m)
	case "challenged":
		b.say("answer", request{"challenge": m.Challenge, "accept": len(b.matches) == 0})
	case "snapshot":
		match := &Match{Players: m.Players, Names: m.Game.MoveNames, Position: *m.Position, seq: m.Seq}
		if err := json.Unmarshal(m.You, &match.You); err != nil {
			return err
		}
		b.matches[m.Match] = match
		if m.Outcome != nil {
			b.finish(m.Match, m.Outcome.Winner, m.Outcome.Reason)
		} else {
			b.think(m.Match)
		}
	case "ended":
		b.finish(m.Match, m.Winner, m.Reason)
	default: // a move, or moves that were taken back; types that a newer server may have are ignored
		if match := b.matches[m.Match]; match != nil && m.Position != nil {
			match.Position = *m.Position
			b.think(m.Match)
		}
	}
	return nil
}

// connected plays over one connection until it ends.
func (b *bot) connected(url string) error {
	socket, _, err := websocket.DefaultDialer.Dial(url, nil)
	if err != nil {
		return err
	}
	defer socket.Close()
	b.socket, b.matches, b.asked = socket, map[string]*Match{}, map[int]request{}
	b.again = make(chan request, 16)
	heard, failed, done := make(chan message), make(chan error, 1), make(chan struct{})
	defer close(done)
	go func() {
		for {
			var m message
			if err := socket.ReadJSON(&m); err != nil {
				failed <- err
				return
			}
			select {
			case heard <- m:
			case <-done:
				return
			}
		}
	}()
	b.hello()
	for !b.isDone {
		select {
		case m := <-heard:
			err = b.hear(m)
		case said := <-b.again:
			b.say(said["type"].(string), without(said, "type", "id"))
		case err = <-failed:
			b.isDone = websocket.IsCloseError(err, giveUp...)
		}
		if err != nil {
			return err
		}
	}
	bye := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
	return socket.WriteControl(websocket.CloseMessage, bye, time.Now().Add(time.Second))
}

func without(said request, keys ...string) request {
	rest := request{}
	for key, value := range said {
		rest[key] = value
	}
	for _, key := range keys {
		delete(rest, key)
	}
	return rest
}

// play plays until the server sends the bot away; in a sandbox, one match with a house bot.
func play(url string, isSandbox bool) error {
	b := &bot{isSandbox: isSandbox}
	if kept, err := os.ReadFile(tokenFile); err == nil && !isSandbox {
		b.token = string(kept)
	}
	for failures := 0; ; failures++ {
		began := time.Now()
		err := b.connected(url)
		if b.isDone {
			return err
		}
		if time.Since(began) > 10*time.Second {
			failures = 0
		}
		pause := pauses[min(failures, len(pauses)-1)] * time.Millisecond
		time.Sleep(pause/2 + time.Duration(rand.Int63n(int64(pause/2))))
	}
}

func min(one, other int) int {
	if one < other {
		return one
	}
	return other
}

func main() {
	isSandbox := flag.Bool("sandbox", false, "play one match with a house bot, and remember nothing")
	flag.Parse()
	rand.Seed(time.Now().UnixNano())
	url := "ws://localhost:8765"
	if flag.NArg() > 0 {
		url = flag.Arg(0)
	}
	if err := play(url, *isSandbox); err != nil {
		log.Fatal(err)
	}
}
