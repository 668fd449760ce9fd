package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
)

func init() {
	register("serve", variants{"-": serve})
}

// A file server is net/http's own: it keeps connections alive, and sends a file with sendfile.
func serve(j job) (*report, error) {
	directory, err := j.text("directory")
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := &http.Server{Handler: http.FileServer(http.Dir(directory))}
	go func() {
		io.Copy(io.Discard, os.Stdin)
		server.Close()
	}()
	fmt.Println("listening", listener.Addr())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return nil, err
	}
	return nil, nil
}
