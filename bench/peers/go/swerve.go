package main

import (
	"fmt"
	"io"
	"net"
	"os"
)

func init() {
	register("swerve", variants{"server": swerve})
}

const (
	swerveLog      = "access.log"
	swerveMostOpen = 64
	swervePiece    = 4096
)

// The components of the server. The other forms are the same, message for message.
type components struct {
	files chan fileRequest
	log   chan string
	ended chan struct{}
}

// fileRequest asks the file processor to send a file in pieces.
type fileRequest struct {
	path   string
	pieces chan<- filePiece
}

// filePiece is the length of a file, or a part of it.
type filePiece struct {
	length int
	bytes  []byte
}

func swerve(j job) (*report, error) {
	log, err := os.Create(swerveLog)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	fmt.Println("listening", listener.Addr())
	c := components{make(chan fileRequest), make(chan string), make(chan struct{})}
	leave := make(chan struct{})
	go processFiles(c.files)
	go writeLog(log, c.log)
	go manageConnections(leave, c.ended)
	for range leave {
		conn, err := listener.Accept()
		if err != nil {
			return nil, err
		}
		go func() {
			// An error is the client's going away.
			_ = c.connection(conn)
			c.ended <- struct{}{}
		}()
	}
	return nil, nil
}

func manageConnections(leave chan<- struct{}, ended <-chan struct{}) {
	open := 0
	for {
		another := leave
		if open == swerveMostOpen {
			another = nil
		}
		select {
		case another <- struct{}{}:
			open++
		case <-ended:
			open--
		}
	}
}

func (c components) connection(conn net.Conn) error {
	defer conn.Close()
	path, err := readPath(conn)
	if err != nil {
		return err
	}
	pieces := make(chan filePiece)
	c.files <- fileRequest{path, pieces}
	var answer []byte
	for piece := range pieces {
		if piece.bytes == nil {
			answer = append(make([]byte, 0, piece.length+256), answerHead("200 OK", piece.length)...)
		} else {
			answer = append(answer, piece.bytes...)
		}
	}
	if answer == nil {
		answer = []byte(answerHead("404 Not Found", 0))
	}
	if _, err := conn.Write(answer); err != nil {
		return err
	}
	conn.Close()
	c.log <- fmt.Sprintf("%s GET /%s %d\n", conn.RemoteAddr(), path, len(answer))
	return nil
}

func processFiles(requests <-chan fileRequest) {
	for request := range requests {
		go func() {
			// That there is no such file is seen by the channel's end.
			defer close(request.pieces)
			sendPieces(request)
		}()
	}
}

func sendPieces(request fileRequest) {
	file, err := os.Open(request.path)
	if err != nil {
		return
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return
	}
	left := int(info.Size())
	request.pieces <- filePiece{length: left}
	for left > 0 {
		bytes := make([]byte, min(left, swervePiece))
		// A file that became shorter ends the answer.
		if _, err := io.ReadFull(file, bytes); err != nil {
			return
		}
		left -= len(bytes)
		request.pieces <- filePiece{bytes: bytes}
	}
}

func writeLog(log *os.File, lines <-chan string) {
	for line := range lines {
		if _, err := log.WriteString(line); err != nil {
			panic(err)
		}
	}
}
