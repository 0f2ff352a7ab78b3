package pyexpr

import "strings"

// anyTypes are all types that have templates. A set may stand only where the
// order of its members does not show, for CPython's is random.
var (
	orderedTypes = []string{"int", "float", "num", "str", "bool", "ints", "floats", "strs", "exts", "ext", "dict", "tuple", "date", "dt", "delta", "obj"}
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
var templates = map[string][]string{
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
		{int} << {small}
		{int} >> {small}
		abs({int})
		round({int}, {prec})
		round({float})
		int({float})
		int({str})
		int('{small}')
		int('0x1f', 16)
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
		{str}.rfind({str}, {idx})
		{str}.index({str})
		divmod({int}, {int})[{small}]
		pow({int}, {small}, {int})
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
		(lambda *{v}: len({v}))(*{ints})
		sum([[{int@v:int,w:int} for {v} in {ints}][0] for {w} in {ints}])
		sum({v} * {w} for {v}, {w} in zip({ints}, {ints}))
		sum({v} for {v} in {set})
		{int}.bit_length()
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
		{str}.title()
		{str}.capitalize()
		{str}.swapcase()
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
		{str}.center(9, '*')
		{str}.ljust(7)
		{str}.rjust({int} % 9, '.')
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
		f'{(}{int}=!s{)} {(}{(}x{)}{)}'
		f"{(}{tuple}{)}"
		f'{(}{bool}:5{)}'
		'%5.1f' % {float}
		'%d items, %s' % ({num}, {any})
		'%-6s|%06.2f|%x' % ({str}, {num}, {int})
		'%(a)s' % {ext}
		'%+d %o %e %g %r' % ({int}, {int}, {float}, {float}, {str})
		'{(}{)} {(}:>6{)}'.format({num}, {str})
		'{(}0!r{)} {(}v[a]{)}'.format({float}, v={ext})
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
		{str}.istitle()
		{str}.isnumeric()
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
	"ints": lines(`
		[{int}, {int}]
		[{int@v:int} for {v} in {ints}]
		[{int@v:int} for {v} in {ints} if {bool@v:int}]
		[{int@v:int,w:int} for {v} in {ints} for {w} in {ints}]
		[{int@v:int,w:int} for {v} in {ints} if {bool@v:int} for {w} in range({v} % 3)]
		[{v} for {v} in [{int}, *{ints}]]
		[{w} for {v}, {w} in enumerate({ints})]
		[{v}['stars'] for {v} in {exts}]
		list({ints})
		sorted({ints})
		sorted({ints}, reverse={bool})
		sorted({ints}, key=lambda {v}: {num@v:int})
		sorted({set})
		sorted({set}, key=lambda {v}: -{v})
		{ints}[{idx}:{idx}:{step}]
		{ints} * {small}
		list({ints}) + list({ints})
		list(range({int} % 7))
		list(range({small}, 9, 2))
		list(map(lambda {v}: {int@v:int}, {ints}))
		list(map(abs, {ints}))
		list(map(int, ['1', {str}]))
		list(filter(lambda {v}: {bool@v:int}, {ints}))
		list(reversed({ints}))
		list({dict}.values())
		[*{ints}, {int}]
		[len({v}) for {v} in {strs}]
		{ints} if {bool} else {ints}
		[sum({v}) for {v} in zip({ints}, {ints})]
		[{v}(2) for {v} in [lambda {w}: {int@w:int}, abs]]
		[{v}() for {v} in [lambda: {w} for {w} in {ints}]]
		(lambda {v}: [{v}, *{v}])({ints})[1:]
		list({v} for {v} in {ints} if {v} % 2)
		list({tuple})`),
	"floats": lines(`
		[{float}, {num}]
		[{float@v:float} for {v} in {floats}]
		[{float@v:float} for {v} in {floats} if {bool@v:float}]
		sorted({floats})
		sorted({floats}, reverse=True, key=abs)
		{floats}[{idx}:{idx}]
		[{v}['score'] for {v} in {exts}]
		list(map(float, {ints}))
		[round({v}, {prec}) for {v} in {floats}]
		list(fs if {bool} else {floats})`),
	"strs": lines(`
		[{str}, {str}]
		[{str@v:str} for {v} in {strs}]
		[{v} for {v} in {strs} if {bool@v:str}]
		[{v}[{key}] for {v} in {exts}]
		{str}.split()
		{str}.split({str})
		{str}.rsplit(None, {small})
		{str}.split(None, {small})
		{str}.split(',', {small})
		{str}.rsplit(' ', 1)
		{str}.splitlines()
		list({str})
		sorted({strs})
		sorted({strs}, key=len, reverse=True)
		sorted({strs}, key=str.lower)
		sorted({sset})
		list({dict})
		list({dict}.keys())
		list(map(str, {ints}))
		list(map(str.upper, {strs}))
		{strs}[{idx}:{idx}]
		{str}.partition({str})
		[*{strs}, *{str}]
		[{v} for {v}, {w} in sorted({dict}.items(), key=lambda {w}: ({w}[1], {w}[0]))]
		list({strs}) * {small}`),
	"exts": lines(`
		[{v} for {v} in {exts} if {bool@v:ext}]
		[{v} for {v} in {exts} if {v}['a'] != {level}]
		sorted({exts}, key=lambda {v}: {v}['date'], reverse={bool})
		sorted({exts}, key=lambda {v}: ({v}[{nkey}], {v}['a']))
		{exts}[{idx}:{idx}]
		list(filter(lambda {v}: {bool@v:ext}, {exts}))
		[{ext}, {ext}]`),
	"ext": lines(`
		{exts}[{idx}]
		{(}**{ext}, 'a': {str}{)}
		max({exts}, key=lambda {v}: {v}['score'])
		min({exts}, key=lambda {v}: {v}['date'], default={ext})
		{ext} | {(}'stars': {int}{)}
		{(}{v}: {w} for {v}, {w} in {ext}.items(){)}
		dict({ext}, b={str})`),
	"dict": lines(`
		{(}{str}: {int}, {str}: {int}{)}
		{(}{str@v:str}: {int@v:str} for {v} in {strs}{)}
		{(}{v}: {w} for {v}, {w} in {dict}.items() if {bool@v:str,w:int}{)}
		dict(zip({strs}, {ints}))
		dict(a={int}, b={int})
		{dict} | {dict}
		{(}**{dict}, 'z': {int}{)}
		{(}{v}: {strs}.count({v}) for {v} in {strs}{)}
		dict([({str}, {int})])
		{dict} if {bool} else {dict}
		{(}{v}['a']: {int@v:ext} for {v} in {exts}{)}`),
	"set": lines(`
		{(}{int}, {int}{)}
		{(}{int@v:int} for {v} in {ints}{)}
		set({ints})
		{set} | {set}
		{set} & {set}
		{set} - {set}
		{set} ^ {set}
		{set}.union({ints})
		{set}.intersection({ints})
		{set}.difference({ints})`),
	"sset": lines(`
		{(}{str}, {str}{)}
		{(}{str@v:str} for {v} in {strs}{)}
		set({strs})
		set({str})
		{sset} | {sset}
		{sset} & {sset}
		{sset} - {sset}
		{dict}.keys() & {sset}
		{dict}.keys() | {strs}
		{(}{v}['a'] for {v} in {exts}{)}`),
	"tuple": lines(`
		({any}, {any})
		{int}, {str}
		tuple({ints})
		({num},)
		{tuple} + {tuple}
		{tuple} * {small}
		{tuple}[{idx}:{idx}]
		divmod({num}, {num})
		tuple({v} for {v} in {strs})
		(*{ints}, {str})
		tuple(zip({strs}, {ints}))
		tuple(enumerate({strs}, {small}))
		tuple({dict}.items())
		tuple([*{w}, {v}] for {v}, *{w} in [{ints}, {strs}])
		[({v}, {w}) for ({v}, {w}) in zip({ints}, {floats})]`),
	"date": lines(`
		{date} + {delta}
		{date} - {delta}
		date.fromisoformat({ext}['date'])
		max(date.fromisoformat({v}['date']) for {v} in {exts})
		date(2000 + {small}, 1 + {small}, {int} % 31)
		{dt}.date()
		{date}.replace(day={small})
		datetime.strptime({ext}['date'], '%Y-%m-%d').date()
		date.fromisoformat({str})`),
	"dt": lines(`
		{dt} + {delta}
		{dt} - {delta}
		datetime.fromisoformat({ext}['date'])
		datetime.strptime({ext}['date'], '%Y-%m-%d')
		datetime.strptime('3 Feb 2021 7:05 PM', '%d %b %Y %I:%M %p')
		datetime.fromisoformat('2024-05-01T00:00:00Z')
		datetime.fromisoformat('2024-05-01 23:59:59+05:30')
		{dt}.replace(hour={small})`),
	"delta": lines(`
		{date} - {date}
		{dt} - {dt}
		{delta} + {delta}
		{delta} * {small}
		{delta} * {num}
		{delta} // {int}
		{delta} / {num}
		{delta} % {delta}
		-{delta}
		abs({delta})
		timedelta(days={num}, hours={small})
		timedelta(weeks={float})`),
	"obj": lines(`
		{any} if {bool} else None
		{ext}.get('useful')
		{dict}.get({str})
		{any} and {any}
		{any} or {any}
		[{any}, {any}]
		{(}'k': {any}, 1: {any}{)}
		(lambda: {any})()
		(lambda {v}: {v})({any})
		{any} + {any}
		{any} * {small}
		{any}[{idx}]
		len({anyset})
		list({tuple})
		sum({any})
		max({any})
		{str} % {any}
		[{v} for {v} in {tuple}]
		{anyset} == {anyset}
		round({any})`),
}
