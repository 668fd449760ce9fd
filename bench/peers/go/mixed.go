package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync/atomic"
)

func init() { register("mixed", variants{"server": mixed}) }

// A server that draws one picture of the Mandelbrot set after the other, and says how many rows there have been.
func mixed(j job) (*report, error) {
	width, err := j.count("width", 1)
	if err != nil {
		return nil, err
	}
	height, err := j.count("height", 1)
	if err != nil {
		return nil, err
	}
	steps, err := j.count("steps", 1)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	var rows, sum atomic.Uint64 // The checksum is 0 as long as there is no picture.
	go func() {
		picture := make([]uint16, width*height)
		for {
			inTurn(j.workers, height, func(y int) {
				// In some other order, so that no part of the loop takes longer than another.
				mandelbrotRow(picture[y*width:][:width], y*7919%height, height, uint16(steps))
				rows.Add(1)
			})
			if sum.Load() == 0 {
				sum.Store(checksum(picture))
			}
		}
	}()
	fmt.Println("listening", listener.Addr())
	for {
		connection, err := listener.Accept()
		if err != nil {
			return nil, err
		}
		go answer(connection, &rows, &sum)
	}
}

// answer gives back each request with how far the loop is, until the client goes away.
func answer(connection net.Conn, rows, sum *atomic.Uint64) {
	defer connection.Close()
	var message [24]byte
	for {
		if _, err := io.ReadFull(connection, message[:8]); err != nil {
			return
		}
		binary.LittleEndian.PutUint64(message[8:], rows.Load())
		binary.LittleEndian.PutUint64(message[16:], sum.Load())
		if _, err := connection.Write(message[:]); err != nil {
			return
		}
	}
}
