package kernel

import "math"

// The portable bodies of the rules: they define the results.

func sgdRef(u Update) {
	w, lr := u.W[:len(u.G)], u.C[0]
	for i, g := range u.G {
		w[i] -= float32(g * lr)
	}
}

func momentumRef(u Update) {
	w, a, lr, mu := u.W, u.S[0], u.C[0], u.C[1]
	for i, g := range u.G {
		a[i] = float32(a[i]*mu) + g
		w[i] -= float32(a[i] * lr)
	}
}

func nesterovRef(u Update) {
	w, a, lr, mu := u.W, u.S[0], u.C[0], u.C[1]
	for i, g := range u.G {
		a[i] = float32(a[i]*mu) + g
		w[i] -= float32(g*lr) + float32(float32(a[i]*mu)*lr)
	}
}

func adagradRef(u Update) {
	w, a, lr := u.W, u.S[0], u.C[0]
	for i, g := range u.G {
		a[i] += float32(g * g)
		w[i] -= float32(float32(g*lr) * (1 / root(a[i])))
	}
}

func adadeltaRef(u Update) {
	w, a, d := u.W, u.S[0], u.S[1]
	lr, rho, rest, epsilon := u.C[0], u.C[1], u.C[2], u.C[3]
	for i, g := range u.G {
		a[i] = float32(a[i]*rho) + float32(float32(g*g)*rest)
		step := float32(root(d[i]+epsilon)*(1/root(a[i]+epsilon))) * g
		w[i] -= float32(step * lr)
		d[i] = float32(d[i]*rho) + float32(float32(step*step)*rest)
	}
}

func adamRef(u Update) {
	w, m, v := u.W, u.S[0], u.S[1]
	alpha, rest1, rest2, epsilon := u.C[0], u.C[1], u.C[2], u.C[3]
	for i, g := range u.G {
		m[i] += float32((g - m[i]) * rest1)
		v[i] += float32((float32(g*g) - v[i]) * rest2)
		w[i] -= float32(m[i]*alpha) / (root(v[i]) + epsilon)
	}
}

func adamRowsRef(u Update) {
	w, m, v := u.W, u.S[0], u.S[1]
	alpha, rest1, rest2, epsilon, beta1, beta2 := u.C[0], u.C[1], u.C[2], u.C[3], u.C[4], u.C[5]
	for i, g := range u.G {
		m[i] = float32(m[i]*beta1) + float32(g*rest1)
		v[i] = float32(v[i]*beta2) + float32(float32(g*g)*rest2)
		w[i] -= float32(alpha*m[i]) / (root(v[i]) + epsilon)
	}
}

func adamDecayRef(u Update) {
	w, m, v := u.W, u.S[0], u.S[1]
	alpha, epsilon, beta1, beta2 := u.C[0], u.C[3], u.C[4], u.C[5]
	for i := range w {
		m[i] *= beta1
		v[i] *= beta2
		w[i] -= float32(alpha*m[i]) / (root(v[i]) + epsilon)
	}
}

func adamWRef(u Update) {
	w, m, v := u.W, u.S[0], u.S[1]
	alpha, rest1, rest2, epsilon, decay, lr := u.C[0], u.C[1], u.C[2], u.C[3], u.C[4], u.C[5]
	for i, g := range u.G {
		m[i] += float32((g - m[i]) * rest1)
		v[i] += float32((float32(g*g) - v[i]) * rest2)
		kept := w[i] - float32(float32(w[i]*decay)*lr)
		w[i] = kept - float32(m[i]*alpha)/(root(v[i])+epsilon)
	}
}

func ftrlRef(u Update) {
	w, n, z := u.W, u.S[0], u.S[1]
	lr, l1, twoL2, shrinkage := u.C[0], u.C[1], u.C[2], u.C[3]
	for i, g := range u.G {
		next := n[i] + float32(g*g)
		power := root(next)
		sigma := (power - root(n[i])) / lr
		if shrinkage != 0 {
			g += float32(shrinkage * w[i])
		}
		z[i] += g - float32(sigma*w[i])
		w[i] = FtrlWeight(z[i], l1, power/lr+twoL2)
		n[i] = next
	}
}

// FtrlWeight is (λ₁·sgn z − z)/denominator, or 0 for a z in [−λ₁, λ₁].
func FtrlWeight(z, l1, denominator float32) float32 {
	switch {
	case z > l1:
		return (l1 - z) / denominator
	case z < -l1:
		return (-l1 - z) / denominator
	case z != z: // NaN is not hidden by a weight of 0
		return z
	}
	return 0
}

func rmspropRef(u Update) {
	w, r, q := u.W, u.S[0], u.S[1]
	lr, rest, mu, epsilon := u.C[0], u.C[1], u.C[2], u.C[3]
	for i, g := range u.G {
		r[i] += float32((float32(g*g) - r[i]) * rest)
		q[i] = float32(q[i]*mu) + float32(g*lr)/root(r[i]+epsilon)
		w[i] -= q[i]
	}
}

func centeredRef(u Update) {
	w, r, q, h := u.W, u.S[0], u.S[1], u.S[2]
	lr, rest, mu, epsilon := u.C[0], u.C[1], u.C[2], u.C[3]
	for i, g := range u.G {
		r[i] += float32((float32(g*g) - r[i]) * rest)
		h[i] += float32((g - h[i]) * rest)
		x := r[i] - float32(h[i]*h[i])
		q[i] = float32(q[i]*mu) + float32(g*lr)/root(x+epsilon)
		w[i] -= q[i]
	}
}

func nesterovRowsRef(u Update) {
	w, a, lr, mu := u.W, u.S[0], u.C[0], u.C[1]
	step := mu * lr
	for i, g := range u.G {
		a[i] = float32(a[i]*mu) + g
		w[i] -= float32(g*lr) + float32(a[i]*step)
	}
}

func rmspropRowsRef(u Update) {
	w, r, q, h := u.W, u.S[0], u.S[1], u.S[2]
	lr, rest, mu, epsilon, rho := u.C[0], u.C[1], u.C[2], u.C[3], u.C[4]
	for i, g := range u.G {
		r[i] = float32(r[i]*rho) + float32(float32(g*g)*rest)
		x := r[i]
		if len(h) > 0 {
			h[i] = float32(h[i]*rho) + float32(g*rest)
			x -= float32(h[i] * h[i])
		}
		q[i] = float32(q[i]*mu) + float32(1/root(x+epsilon)*lr*g)
		w[i] -= q[i]
	}
}

func ftrlPowerRef(u Update) {
	w, n, z := u.W, u.S[0], u.S[1]
	lr, l1, twoL2, shrinkage, p := u.C[0], u.C[1], u.C[2], u.C[3], float64(u.C[4])
	for i, g := range u.G {
		next := n[i] + float32(g*g)
		power := float32(math.Pow(float64(next), p))
		sigma := (power - float32(math.Pow(float64(n[i]), p))) / lr
		if shrinkage != 0 {
			g += float32(shrinkage * w[i])
		}
		z[i] += g - float32(sigma*w[i])
		w[i] = FtrlWeight(z[i], l1, power/lr+twoL2)
		n[i] = next
	}
}
