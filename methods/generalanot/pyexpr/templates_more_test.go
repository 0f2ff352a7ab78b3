package pyexpr

var otherTemplates = map[string][]string{
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
		{dict}.keys() | {sset}
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
		[({v}, {w}) for ({v}, {w}) in zip({ints}, {floats})]`),
	"date": lines(`
		{date} + {delta}
		{date} - {delta}
		date.fromisoformat({ext}['date'])
		max(date.fromisoformat({v}['date']) for {v} in {exts})
		date(2000 + {small}, 1 + {small}, {int} % 31)
		{dt}.date()
		datetime.strptime({ext}['date'], '%Y-%m-%d').date()
		date.fromisoformat({str})`),
	"dt": lines(`
		{dt} + {delta}
		{dt} - {delta}
		datetime.fromisoformat({ext}['date'])
		datetime.strptime({ext}['date'], '%Y-%m-%d')
		datetime.strptime('3 Feb 2021 7:05', '%d %b %Y %H:%M')
		datetime.fromisoformat('2024-05-01T00:00:00Z')
		datetime.fromisoformat('2024-05-01 23:59:59+05:30')`),
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
		[{v} for {v} in {tuple}]
		{anyset} == {anyset}
		round({any})`),
}
