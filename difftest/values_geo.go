package difftest

import (
	"math"
	"strconv"
)

// gkey draws keys that mostly hold places.
func (g *Generator) gkey() []byte {
	if g.rng.Intn(40) == 0 {
		return g.key()
	}
	return strconv.AppendInt([]byte("geo:"), int64(g.rng.Intn(5)), 10)
}

func (g *Generator) gmember() []byte {
	if g.rng.Intn(60) == 0 {
		return g.zmember()
	}
	return strconv.AppendInt([]byte("p:"), g.skewed(500), 10)
}

// lon and lat draw degrees: anywhere, around a few towns, at the edges of the map.
func (g *Generator) lon() []byte {
	return g.degrees(180, []string{"180", "-180", "179.99999", "-179.99999", "0", "-0", "180.1", "-181", "", "abc", "inf", "1e-300", "1e10"})
}

func (g *Generator) lat() []byte {
	return g.degrees(85.05112878, []string{"85.05112878", "-85.05112878", "85.0511", "-85.05", "0", "85.06", "-90", "", "abc", "nan", "80", "-80", "66"})
}

func (g *Generator) degrees(limit float64, edges []string) []byte {
	var f float64
	switch g.rng.Intn(12) {
	case 0:
		return []byte(pick(g.rng, edges))
	case 1, 2, 3, 4:
		f = (g.rng.Float64()*2 - 1) * limit
	default:
		f = pick(g.rng, []float64{13.361389, 38.115556, -70.5, 2.35}) + g.rng.NormFloat64()*math.Pow(10, float64(g.rng.Intn(6)-4))
	}
	return strconv.AppendFloat(nil, f, 'f', -1, 64)
}

// length draws lengths, unit what they are measured in.
func (g *Generator) length() []byte {
	if g.rng.Intn(20) == 0 {
		return []byte(pick(g.rng, []string{"0", "-1", "abc", "", "inf", "1e300", "1e-9", "-0"}))
	}
	return strconv.AppendFloat(nil, math.Pow(10, g.rng.Float64()*8-1), 'g', 6, 64)
}

func (g *Generator) unit() []byte {
	if g.rng.Intn(30) == 0 {
		return []byte(pick(g.rng, []string{"cm", "", "miles"}))
	}
	return g.anyCase(pick(g.rng, []string{"M", "KM", "FT", "MI", "KM"}))
}
