package doctor

import "fmt"

// rateText returns a rate in bits per second.
func rateText(bytesPerS float64) string {
	switch bits := 8 * bytesPerS; {
	case bits >= 9.95e9:
		return fmt.Sprintf("%.0f Gbit/s", bits/1e9)
	case bits >= 0.9995e9:
		return fmt.Sprintf("%.1f Gbit/s", bits/1e9)
	case bits >= 9.95e6:
		return fmt.Sprintf("%.0f Mbit/s", bits/1e6)
	default:
		return fmt.Sprintf("%.2g Mbit/s", bits/1e6)
	}
}

func secondsText(s float64) string {
	switch {
	case s >= 9.95:
		return fmt.Sprintf("%.0f s", s)
	case s >= 0.9995:
		return fmt.Sprintf("%.1f s", s)
	case s >= 9.95e-3:
		return fmt.Sprintf("%.0f ms", s*1e3)
	case s >= 0.9995e-3:
		return fmt.Sprintf("%.1f ms", s*1e3)
	default:
		return fmt.Sprintf("%.0f us", s*1e6)
	}
}

func bytesText(n int64) string {
	switch {
	case n < 0:
		return "no limit"
	case n >= 10<<30:
		return fmt.Sprintf("%.0f GiB", float64(n)/(1<<30))
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	default:
		return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20))
	}
}
