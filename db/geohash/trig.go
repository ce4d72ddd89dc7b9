package geohash

import "math"

// Sines and arcsines to the last bit. Distances that are stored as scores show all 17
// digits, so they must be those of Redis, whose C library rounds all but the rarest results
// as the exact values round; Go's functions are off by one bit now and then. Here a result
// is computed to some 75 bits before it is rounded. A table of sines at multiples of 1/16,
// each as a sum of two floats, leaves |d| <= 1/32 for a polynomial of which only the first
// terms need two floats. (Whole double-double series would take five times as long.)

// sum2 returns a+b as a float and what rounding left.
func sum2(a, b float64) (hi, lo float64) {
	hi = a + b
	t := hi - a
	return hi, (a - (hi - t)) + (b - t)
}

// product2 returns a*b as a float and what rounding left.
func product2(a, b float64) (hi, lo float64) {
	hi = a * b
	return hi, math.FMA(a, b, -hi)
}

// sine returns the sine of x, |x| <= pi, as the sum of two floats.
func sine(x float64) (hi, lo float64) {
	if x < 0 {
		hi, lo = sine(-x)
		return -hi, -lo
	}
	rest := 0.0
	if x > math.Pi/2 {
		x, rest = sum2(piHigh-x, piLow)
	}
	hi, lo = steps(x, false)
	return sum2(hi, lo+rest*math.Cos(x))
}

// cosine returns the cosine of x, |x| < 1.59.
func cosine(x float64) (hi, lo float64) { return steps(math.Abs(x), true) }

// steps returns the sine or the cosine of x, 0 <= x < 1.59, from the table.
func steps(x float64, cos bool) (hi, lo float64) {
	k := int(x*16 + 0.5)
	t := &table[k]
	d := x - float64(k)/16 // exact
	a, aLow, b, bLow := t[0], t[1], t[2], t[3]
	if cos {
		a, aLow, b, bLow, d = b, bLow, a, aLow, -d
	}
	// The result is a*cos(d) + b*sin(d): a + (b*d) - (a*d*d/2) + less.
	d2, d2Low := product2(d, d)
	p, pLow := product2(b, d)
	q, qLow := product2(a, d2/2)
	cosRest := d2 * d2 * (1.0/24 - d2*(1.0/720-d2/40320))
	sinRest := -d * d2 * (1.0/6 - d2*(1.0/120-d2*(1.0/5040-d2/362880)))
	s, sLow := sum2(p, -q)
	hi, lo = sum2(a, s)
	lo += sLow + (pLow - qLow) + aLow + bLow*d - a*d2Low/2 + (a*cosRest + b*sinRest)
	return sum2(hi, lo)
}

func sin(x float64) float64 {
	hi, lo := sine(x)
	return hi + lo
}

func cos(x float64) float64 {
	hi, lo := cosine(x)
	return hi + lo
}

// asin returns the arcsine of y, 0 <= y <= 1: a step of Newton's from Go's own.
func asin(y float64) float64 {
	x := math.Asin(y)
	if x > 1.57 { // flat there, and nowhere near in practice: the other end of the earth
		return x
	}
	hi, lo := sine(x)
	return x + ((y-hi)-lo)/math.Cos(x)
}

const (
	piHigh = 0x1.921fb54442d18p+1
	piLow  = 0x1.1a62633145c07p-53
)

// table has sine and cosine of k/16, each in two parts.
var table = [26][4]float64{
	{0, 0, 0x1.0000000000000p+0, 0},
	{0x1.ffaaaeeed4edbp-5, -0x1.2d16d32684b69p-59, 0x1.ff0015549f4d3p-1, 0x1.328387b99426fp-55},
	{0x1.feaaeee86ee36p-4, -0x1.afcb2bcc6f03bp-59, 0x1.fc015527d5bd3p-1, 0x1.b68f35094efb8p-55},
	{0x1.7dc102fbaf2b5p-3, 0x1.5ab50e23c97c3p-59, 0x1.f706bdf9ece1cp-1, -0x1.698c80c36dcb4p-55},
	{0x1.faaeed4f31577p-3, -0x1.15d88508e32b8p-57, 0x1.f01549f7deea1p-1, 0x1.d3c1e99e5cafdp-55},
	{0x1.3ad129769d3d8p-2, 0x1.03d550487839ap-63, 0x1.e733ea0193d40p-1, -0x1.6428b3546ce13p-55},
	{0x1.7710255764214p-2, -0x1.6ead7314bb6cep-57, 0x1.dc6b7eb995912p-1, 0x1.4b364776dcd35p-58},
	{0x1.b1d8305321617p-2, -0x1.ae242cb99f519p-56, 0x1.cfc6cfa52ad9fp-1, 0x1.8b5b5508f2a0dp-55},
	{0x1.eaee8744b05f0p-2, -0x1.789b43c9b027dp-58, 0x1.c1528065b7d50p-1, -0x1.892111312e828p-55},
	{0x1.110d0c4b69c3bp-1, 0x1.d918998809981p-55, 0x1.b11d04162a4c6p-1, 0x1.1dd561efbc0c2p-56},
	{0x1.2b91dea88421ep-1, -0x1.fa371db216ab0p-55, 0x1.9f368ed912f85p-1, -0x1.1d200c5791606p-55},
	{0x1.44eb381cf386bp-1, -0x1.3ed6c1e6a5505p-55, 0x1.8bb105a5dc900p-1, 0x1.863e03e9474c1p-55},
	{0x1.5cffc16bf8f0dp-1, 0x1.96cb370eb578ap-55, 0x1.769fec655211fp-1, -0x1.827d5cf8c68c5p-57},
	{0x1.73b7680dea578p-1, -0x1.2248306dc12a2p-56, 0x1.6018526f563dfp-1, 0x1.46ca5e0e432d0p-55},
	{0x1.88fb7640b8da2p-1, -0x1.49987c11efaa3p-55, 0x1.4830bd7d4ceb3p-1, 0x1.df77ff20d5448p-55},
	{0x1.9cb6a9bbce64bp-1, -0x1.4f3e7a32f8d0cp-56, 0x1.2f011326420e4p-1, 0x1.8e30efe9e96c2p-56},
	{0x1.aed548f090ceep-1, 0x1.06374f484e288p-59, 0x1.14a280fb5068cp-1, -0x1.b71edcc9344bcp-55},
	{0x1.bf4536c24bb85p-1, 0x1.97632053703f0p-55, 0x1.f25ec6b852fc2p-2, 0x1.445cbca9a80a8p-56},
	{0x1.cdf604a1cadcep-1, -0x1.6b50757f2fa40p-56, 0x1.b9865639d0596p-2, -0x1.931bd06786cb9p-56},
	{0x1.dad902fa8ac87p-1, 0x1.ea5e370875907p-58, 0x1.7ef4842f0bccdp-2, 0x1.83529407722f1p-56},
	{0x1.e5e14fe11418cp-1, 0x1.f26492c1c25a0p-57, 0x1.42e3dd88bd952p-2, -0x1.353a9f74bf255p-57},
	{0x1.ef03e3f3d42a2p-1, 0x1.0572b0573c404p-59, 0x1.05906dec537dap-2, 0x1.12c3f77448473p-61},
	{0x1.f6379d619369dp-1, 0x1.6b296ac1928abp-55, 0x1.8e6f075a987d6p-3, 0x1.a57e7fd1918d8p-62},
	{0x1.fb75490a83c2cp-1, 0x1.d9fbeed39ae46p-55, 0x1.102ee507ff5f0p-3, -0x1.77ec7eee89a9bp-57},
	{0x1.feb7a9b2c6d8bp-1, -0x1.0c8f40129a886p-56, 0x1.21bd54fc5f9a7p-4, 0x1.0fcb936b1ce7ep-58},
	{0x1.fffb7d3f3a253p-1, -0x1.2d4934e6c1f3dp-56, 0x1.0fd9d5c093df5p-7, -0x1.50076d7383a18p-64},
}
