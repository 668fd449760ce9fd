package main

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"strings"
)

var errRequest = errors.New("a request that makes no sense")

// readPath reads the head of a request. The other forms understand as little of HTTP.
func readPath(conn net.Conn) (string, error) {
	var buffer [1024]byte
	filled := 0
	for !bytes.Contains(buffer[:filled], []byte("\r\n\r\n")) {
		if filled == len(buffer) {
			return "", errRequest
		}
		count, err := conn.Read(buffer[filled:])
		if err != nil {
			return "", err
		}
		filled += count
	}
	line, _, _ := bytes.Cut(buffer[:filled], []byte("\r\n"))
	words := strings.Fields(string(line))
	if len(words) != 3 || !strings.HasPrefix(words[1], "/") || strings.Contains(words[1], "..") {
		return "", errRequest
	}
	return words[1][1:], nil
}

func answerHead(status string, length int) string {
	return fmt.Sprintf("HTTP/1.1 %s\r\nContent-Type: text/html\r\nContent-Length: %d\r\nConnection: close\r\n\r\n", status, length)
}
