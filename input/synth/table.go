package synth

import (
	"math"
	"strconv"
)

// TableRows is how many rows a table has where nothing else is said.
const TableRows = 20_000

// A Table is a raw table of customers, as one comes with: an id, dates, numbers with words for missing, texts
// with empty cells, booleans, lists of genres, and the label churn, Yes or No. A row is a function of the seed
// and its number.
type Table struct{ Seed uint64 }

// TableHeader names the columns of a table.
const TableHeader = "customer_id,signup,age,income,plan,city,active,genres,visits,churn\n"

var (
	tablePlans  = [...]string{"basic", "plus", "pro"}
	tableGenres = [...]string{"drama", "comedy", "news", "sport", "music", "horror", "science"}
)

// tableCities is the number of cities.
const tableCities = 60

// draws of a row, by column.
const (
	drawDay = iota
	drawAge
	drawIncome
	drawPlan
	drawCity
	drawActive
	drawGenres
	drawVisits
	drawChurn
	drawMissing // and one on for each column
)

// AppendRow appends row i as a line of CSV.
func (t Table) AppendRow(dst []byte, i int) []byte {
	key := keyOf(t.Seed, streamTrain)
	draw := func(k int) uint64 { return drawOf(key, i, k) }
	missing := func(k int, share float64) bool { return unitOf(draw(drawMissing+k)) < share }
	score := -1.2

	dst = append(dst, 'C')
	dst = strconv.AppendUint(dst, 100_000_000+mix(uint64(i))%800_000_000, 10)
	dst = append(dst, '-')
	dst = strconv.AppendInt(dst, int64(i), 36)

	day := int(draw(drawDay) % (3 * 336))
	dst = append(dst, ',')
	dst = appendDay(dst, day)
	score -= float64(day) / 1000

	dst = append(dst, ',')
	if age := 18 + int(draw(drawAge)%60); missing(drawAge, 0.05) {
		dst = append(dst, "NA"...)
	} else {
		dst = strconv.AppendInt(dst, int64(age), 10)
		score += math.Abs(float64(age)-45) / 30
	}

	dst = append(dst, ',')
	if income := math.Exp(10 + 0.8*normalOf(draw(drawIncome))); missing(drawIncome, 0.03) {
		dst = append(dst, '?')
	} else {
		dst = strconv.AppendFloat(dst, income, 'f', 2, 64)
		score -= 0.3 * (math.Log(income) - 10)
	}

	plan := int(draw(drawPlan) % uint64(len(tablePlans)))
	dst = append(append(dst, ','), tablePlans[plan]...)
	score += 0.8 * float64(1-plan)

	dst = append(dst, ',')
	if city := int(draw(drawCity) % tableCities); !missing(drawCity, 0.04) {
		dst = strconv.AppendInt(append(dst, "city_"...), int64(city), 10)
		score += 0.6 * normalOf(mix(t.Seed+uint64(city)))
	}

	active := unitOf(draw(drawActive)) < 0.7
	dst = strconv.AppendBool(append(dst, ','), active)
	if active {
		score -= 0.9
	}

	dst = append(dst, ',')
	genres, at := draw(drawGenres), len(dst)
	for g, name := range tableGenres {
		if genres>>(2*g)&3 != 0 {
			continue
		}
		if len(dst) > at {
			dst = append(dst, '|')
		}
		dst = append(dst, name...)
		score += 0.5 * normalOf(mix(t.Seed^uint64(g+1)<<32))
	}

	visits := int(math.Exp(1.5 + normalOf(draw(drawVisits))))
	dst = strconv.AppendInt(append(dst, ','), int64(visits), 10)
	score -= 0.2 * math.Log1p(float64(visits))

	if unitOf(draw(drawChurn)) < 1/(1+math.Exp(-score)) {
		return append(dst, ",Yes\n"...)
	}
	return append(dst, ",No\n"...)
}

// appendDay appends a day of 2023 to 2025, of months of 28 days.
func appendDay(dst []byte, day int) []byte {
	two := func(n int) { dst = append(dst, '-', byte('0'+n/10), byte('0'+n%10)) }
	dst = strconv.AppendInt(dst, int64(2023+day/336), 10)
	two(1 + day%336/28)
	two(1 + day%28)
	return dst
}
