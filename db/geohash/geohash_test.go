package geohash

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// exact computes sine and cosine with 200 bits.
func exact(x float64) (sin, cos *big.Float) {
	f := func(v float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(v) }
	sin, cos = f(0), f(0)
	term, bx := f(1), f(x)
	for n := range 60 {
		sum := cos
		if n%2 == 1 {
			sum = sin
		}
		if n%4 < 2 {
			sum.Add(sum, term)
		} else {
			sum.Sub(sum, term)
		}
		term.Mul(term, bx)
		term.Quo(term, f(float64(n+1)))
	}
	return sin, cos
}

// TestTrigonometry holds sines and cosines to the last bit, and arcsines nearly so.
func TestTrigonometry(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	wrong, wrongAsin := 0, 0
	const n = 20_000
	for i := range n {
		x := (rng.Float64()*2 - 1) * math.Pi
		if i%2 == 0 {
			x = math.Pow(10, -8*rng.Float64()) * math.Pi
		}
		s, _ := exact(x)
		if want, _ := s.Float64(); sin(x) != want {
			wrong++
			if d := math.Abs(sin(x) - want); d > 1e-15*math.Abs(want) {
				t.Fatalf("sin %v is %v, want %v", x, sin(x), want)
			}
		}
		x = (rng.Float64()*2 - 1) * 1.48
		_, c := exact(x)
		if want, _ := c.Float64(); cos(x) != want {
			wrong++
		}
		// A float next to the sine of x has x as its arcsine but for rounding.
		x = math.Abs(x)
		y := sin(x)
		got := asin(y)
		s, c = exact(got)
		err := new(big.Float).SetPrec(200).SetFloat64(y)
		err.Sub(err, s).Quo(err, c)
		e, _ := err.Float64()
		if ulp := math.Nextafter(got, 2) - got; math.Abs(e) > ulp*0.5001 {
			wrongAsin++
		}
	}
	if wrong > n/10_000 || wrongAsin > n/1000 {
		t.Errorf("%d sines and cosines, %d arcsines of %d are rounded wrongly", wrong, wrongAsin, n)
	}
}
