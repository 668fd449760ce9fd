package main

func init() { register("par-tak", variants{"-": program(parTak)}) }

func parTak(j job) (func() uint64, error) {
	var args [3]int
	for i, name := range []string{"x", "y", "z"} {
		arg, err := j.count(name, 0)
		if err != nil {
			return nil, err
		}
		args[i] = arg
	}
	return func() uint64 { return uint64(<-tak(args[0], args[1], args[2])) }, nil
}

func tak(x, y, z int) <-chan int {
	result := make(chan int)
	go func() {
		if y >= x {
			result <- z
			return
		}
		a, b, c := tak(x-1, y, z), tak(y-1, z, x), tak(z-1, x, y)
		result <- <-tak(<-a, <-b, <-c)
	}()
	return result
}
