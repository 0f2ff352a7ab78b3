package pyexpr

import "strings"

// anyTypes are all types that have templates. A set may stand only where the
// order of its members does not show, for CPython's is random.
var (
	orderedTypes = []string{"int", "float", "num", "str", "bool", "ints", "floats", "strs", "exts", "ext", "dict", "tuple", "date", "dt", "delta", "counter", "obj"}
	anyTypes     = append([]string{"set", "sset"}, orderedTypes...)
)

func lines(s string) []string {
	var out []string
	for line := range strings.SplitSeq(strings.TrimSpace(s), "\n") {
		out = append(out, strings.TrimSpace(line))
	}
	return out
}

// templates are expressions of a type, made of expressions of others.
var templates = merge(scalarTemplates, otherTemplates, addedTemplates)

func merge(all ...map[string][]string) map[string][]string {
	out := map[string][]string{}
	for _, m := range all {
		for typ, formulas := range m {
			out[typ] = append(out[typ], formulas...)
		}
	}
	return out
}

var scalarTemplates = map[string][]string{
	"int": lines(`
		{int} + {int}
		{int} - {int}
		{int} * {int}
		{int} // {int}
		{int} % {int}
		{int} ** {small}
		-{int}
		+{int}
		~{int}
		{int} & {int}
		{int} | {int}
		{int} ^ {int}
		abs({int})
		round({int}, {prec})
		round({float})
		int({float})
		int({str})
		int('{small}')
		len({strs})
		len({str})
		len({dict})
		len({set})
		sum({ints})
		sum({int@v:ext} for {v} in {exts})
		sum(1 for {v} in {exts} if {bool@v:ext})
		sum(1 for {v} in {exts} if {v}['a'] == {level} and {v}['b'] == 'firsthand')
		sum({v}['stars'] for {v} in {exts} if {v}['ok'] or {bool@v:ext})
		sum(map(lambda {v}: {int@v:int}, {ints}))
		max({ints})
		min({ints}, default={int})
		max({int}, {int}, {int})
		min({ints}, key=lambda {v}: {num@v:int})
		max({ints}, key=abs, default=0)
		{int} if {bool} else {int}
		{ints}[{idx}]
		{dict}.get({str}, {int})
		{dict}[{str}]
		{ints}.index({int})
		{ints}.count({int})
		{str}.count({str})
		{str}.find({str})
		{str}.rfind({str})
		{str}.index({str})
		divmod({int}, {int})[{small}]
		{int} and {int}
		{int} or {int}
		{ext}['stars']
		math.floor({float})
		ceil({float})
		math.gcd({int}, {int})
		math.factorial({small})
		math.comb(5, {small})
		math.isqrt({int})
		math.prod({ints})
		({date} - {date}).days
		{date}.year
		{dt}.hour
		{date}.weekday()
		(lambda {v}, {w}=2: {int@v:int,w:int})({int})
		sum([[{int@v:int,w:int} for {v} in {ints}][0] for {w} in {ints}])
		sum({v} * {w} for {v}, {w} in zip({ints}, {ints}))
		sum({v} for {v} in {set})
		max(enumerate({ints}), key=lambda {v}: {v}[1])[0]
		sum(({int@v:int} for {v} in {ints}), {int})
		len([{v} for {v} in {strs} if {bool@v:str}])
		len(list(filter(None, {ints})))
		{ints}[{idx}:{idx}:{step}][{idx}]`),
	"float": lines(`
		{float} + {num}
		{num} - {float}
		{float} * {num}
		{num} / {num}
		{int} / {int}
		{float} // {num}
		{num} % {float}
		-{float}
		float({int})
		float({str})
		abs({float})
		round({float}, {prec})
		round(abs({float}) ** 0.5, 6)
		round(sqrt(abs({int})), 9)
		round(exp(min({float}, 5)), 6)
		round(log(abs({int}) + 1), 9)
		round(math.log({int}, 2), 6)
		math.sqrt({num})
		math.fabs({num})
		math.fmod({num}, {num})
		math.copysign({float}, {num})
		math.hypot({num}, {num})
		math.fsum({floats})
		math.trunc({float})
		sum({floats})
		sum({floats}) / len({floats})
		max({floats})
		min({num}, {float})
		{floats}[{idx}]
		max(0.0, min(20.0, {num}))
		{float} if {bool} else {num}
		sum({v}['score'] * {num} for {v} in {exts})
		{ext}['score']
		{delta}.total_seconds()
		{delta} / {delta}
		{float} or {float}
		round({num} / 3, {prec})
		sum({float@v:ext} for {v} in {exts}) / max(len({exts}), 1)
		{int} ** -{small}
		{float} ** {small}`),
	"num": lines(`
		{int}
		{float}
		{num} + {num}
		{num} * {num}
		{num} - {num}
		{num} if {bool} else {num}
		{ext}[{nkey}]
		sum({num@v:num} for {v} in ({num}, {num}))
		max({num}, {num})
		sorted([{num}, {num}, {num}])[{small}]`),
	"str": lines(`
		{str} + {str}
		{str} * {small}
		{str}[{idx}:{idx}:{step}]
		{str}[{idx}]
		{str}.lower()
		{str}.upper()
		{str}.casefold()
		{str}.strip()
		{str}.strip({str})
		{str}.lstrip('a ')
		{str}.rstrip()
		{str}.replace({str}, {str})
		{str}.replace({str}, 'z', {small})
		{str}.join({strs})
		', '.join(sorted({sset}))
		','.join(str({v}) for {v} in {ints})
		{str}.split({str})[{idx}]
		{str}.zfill(6)
		{str}.removeprefix({str})
		{str}.partition(',')[{small}]
		str({any})
		str({float})
		str({date})
		str({delta})
		{dt}.isoformat()
		{date}.strftime({dfmt})
		{ext}[{key}]
		{str} if {bool} else {str}
		{str} or {str}
		f'{(}{num}{conv}{)}'
		f'{(}{float}:{fspec}{)}'
		f'{(}{int}:{ispec}{)}|'
		f'{(}{str}{conv}:{sspec}{)}'
		f'<{(}{float}:{(}{small}{)}.1f{)}>'
		f'{(}{int}!s{)} {(}{(}x{)}{)}'
		f"{(}{tuple}{)}"
		f'{(}{bool}:5{)}'
		'{(}{)} {(}:>6{)}'.format({num}, {str})
		'{(}0!r{)} {(}v{)}'.format({float}, v={str})
		'{(}:{(}{)}.2f{)}'.format({num}, {small})
		max({strs}, key=len)
		min({strs})
		sorted({strs}, key=lambda {v}: (len({v}), {v}))[{idx}]
		'Low Risk' if {num} < 4 else ('High Risk' if {num} < 8 else 'Critical Risk')
		{strs}[{idx}]`),
	"bool": lines(`
		{num} {cmp} {num}
		{str} {cmp} {str}
		{int} {cmp} {float}
		{num} {cmp} {num} {cmp} {num}
		{int} < {num} <= {int} != {num}
		{bool} and {bool}
		{bool} or {bool}
		not {anyset}
		{int} in {ints}
		{str} in {str}
		{str} not in {strs}
		{str} in {dict}
		{int} in {set}
		{anyset} is None
		{anyset} is not None
		{obj} is {obj}
		any({bool@v:int} for {v} in {ints})
		all({bool@v:ext} for {v} in {exts})
		any({v}['a'] in ('mild', {level}) for {v} in {exts})
		all([])
		bool({anyset})
		isinstance({anyset}, {type})
		{str}.startswith({str})
		{str}.endswith(('a', {str}))
		{str}.isdigit()
		{str}.isalpha()
		{str}.isupper()
		{str}.islower()
		{str}.isspace()
		{str}.isalnum()
		{ints} == {tuple}
		{tuple} {cmp} {tuple}
		{ints} {cmp} {ints}
		{set} <= {set}
		{set} == {set}
		{sset} > {sset}
		{dict} == {dict}
		{date} {cmp} {date}
		{dt} {cmp} {dt}
		{delta} {cmp} {delta}
		{set}.issubset({ints})
		{sset}.isdisjoint({strs})
		{ext}['a'] == {level}
		{ext}.get('useful') is None
		math.isclose({float}, {num})
		math.isnan({float})
		{bool} ^ {bool}
		{bool} & {bool}
		{float}.is_integer()
		True if {any} else False`),
}
