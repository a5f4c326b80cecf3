module my-bot

go 1.18

require github.com/gorilla/websocket v1.5.0
