package main

func init() { register("mat-mult", variants{"-": program(matMult)}) }

// An element of the product, and where it is, row after row.
type element struct {
	place int
	value float64
}

func matMult(j job) (func() uint64, error) {
	side, err := j.count("side", 1)
	if err != nil {
		return nil, err
	}
	// The first matrix is kept row after row, the second column after column, as the product wants it. Sums of
	// small whole numbers are exact in any order.
	rows, columns := make([]float64, side*side), make([]float64, side*side)
	for i := range side {
		for k := range side {
			rows[i*side+k] = float64((3*i + 5*k) % 17)
			columns[i*side+k] = float64((7*k + 2*i) % 13)
		}
	}
	return func() uint64 {
		elements := make(chan element)
		for i := range side {
			go func() {
				row := rows[i*side : (i+1)*side]
				for k := range side {
					elements <- element{i*side + k, dot(row, columns[k*side:(k+1)*side])}
				}
			}()
		}
		product := make([]float64, side*side)
		for range product {
			e := <-elements
			product[e.place] = e.value
		}
		return checksum(product)
	}, nil
}

// Four sums beside each other, so that an addition need not wait for the one before.
func dot(a, b []float64) float64 {
	var sums [4]float64
	b = b[:len(a)]
	for len(a) >= 4 && len(b) >= 4 {
		sums[0] += a[0] * b[0]
		sums[1] += a[1] * b[1]
		sums[2] += a[2] * b[2]
		sums[3] += a[3] * b[3]
		a, b = a[4:], b[4:]
	}
	for k := range a {
		sums[0] += a[k] * b[k]
	}
	return sums[0] + sums[1] + sums[2] + sums[3]
}
