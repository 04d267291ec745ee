package kernel

// Rule is the arithmetic of an optimizer's step on one element: value w, gradient
// g, slots and constants. Package optimizer has the formulas; the bodies here fix
// the order of operations, each rounded to float32 alone. All sets have the same
// bits.
type Rule int

// The rules, with their slots and constants in the order of [Update].
const (
	SGD             Rule = iota // ; η
	Momentum                    // a; η, μ
	Nesterov                    // a; η, μ
	Adagrad                     // a; η
	Adadelta                    // a, d; η, ρ, 1−ρ, ε
	Adam                        // m, v; α, 1−β₁, 1−β₂, ε
	AdamRows                    // m, v; α, 1−β₁, 1−β₂, ε, β₁, β₂
	AdamDecay                   // m, v; α, -, -, ε, β₁, β₂; G is not read
	AdamW                       // m, v; α, 1−β₁, 1−β₂, ε, λ, η
	Ftrl                        // n, z; η, λ₁, 2λ₂, 2λₛ
	RMSProp                     // r, q; η, 1−ρ, μ, ε
	RMSPropCentered             // r, q, h; η, 1−ρ, μ, ε

	// Rules that have a portable body only.
	NesterovRows    // a; η, μ
	RMSPropRows     // r, q; η, 1−ρ, μ, ε, ρ
	RMSPropRowsMean // r, q, h, centered; η, 1−ρ, μ, ε, ρ
	FtrlPower       // n, z; η, λ₁, 2λ₂, 2λₛ, −p
	rules
)

// ruleKinds has the number of slots of each rule, and the body that defines its result.
var ruleKinds = [rules]struct {
	slots int
	body  func(u Update)
}{
	SGD:             {0, sgdRef},
	Momentum:        {1, momentumRef},
	Nesterov:        {1, nesterovRef},
	Adagrad:         {1, adagradRef},
	Adadelta:        {2, adadeltaRef},
	Adam:            {2, adamRef},
	AdamRows:        {2, adamRowsRef},
	AdamDecay:       {2, adamDecayRef},
	AdamW:           {2, adamWRef},
	Ftrl:            {2, ftrlRef},
	RMSProp:         {2, rmspropRef},
	RMSPropCentered: {3, centeredRef},
	NesterovRows:    {1, nesterovRowsRef},
	RMSPropRows:     {2, rmspropRowsRef},
	RMSPropRowsMean: {3, rmspropRowsRef},
	FtrlPower:       {2, ftrlPowerRef},
}

// Update has the operands of a rule: elements of a range of a variable.
type Update struct {
	W, G []float32    // value and gradient
	S    [3][]float32 // slots
	C    [6]float32   // constants
}

// updates is the task of Update.
type updates struct {
	set  Set
	rule Rule
	u    Update
}

// updateGrain is the minimum number of elements for another thread.
const updateGrain = 1 << 14

// Update makes one step of the rule, in one pass over value, gradient and slots.
func (e *Engine) Update(r Rule, u *Update) {
	n := len(u.W)
	fits := r >= 0 && r < rules && (len(u.G) == n || r == AdamDecay)
	for i := range ruleKinds[r].slots {
		fits = fits && len(u.S[i]) == n
	}
	if !fits {
		panic("kernel: Update: length does not match shape")
	}
	t := &e.updates
	t.set, t.rule, t.u = e.set, r, *u
	e.Run(n, updateGrain, t)
	t.u = Update{}
}

// Span updates elements lo to hi.
func (up *updates) Span(lo, hi, _ int) {
	u := up.u.Cut(lo, hi)
	if n := up.rule.assembly(up.set, &u); n < hi-lo {
		ruleKinds[up.rule].body(up.u.Cut(lo+n, hi))
	}
}

// Cut returns elements lo to hi of u.
func (u *Update) Cut(lo, hi int) Update {
	part := Update{W: u.W[lo:hi], C: u.C}
	if len(u.G) > 0 {
		part.G = u.G[lo:hi]
	}
	for i, s := range u.S {
		if len(s) > 0 {
			part.S[i] = s[lo:hi]
		}
	}
	return part
}
