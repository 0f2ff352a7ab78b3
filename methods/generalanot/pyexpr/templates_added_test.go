package pyexpr

// addedTemplates are those of what models write beyond arithmetic: counters,
// iterators, regular expressions, statistics and times.
var addedTemplates = map[string][]string{
	"int": lines(`
		next(iter({ints}), {int})
		next(iter({ints}))
		next(({v} for {v} in {ints} if {bool@v:int}), {int})
		next({ints}, {int})
		{counter}[{str}]
		{counter}.total()
		len({counter})
		sum({counter}.values())
		Counter({ints}).most_common(1)[0][1]
		Counter({strs})[{str}]
		ord({str})
		ord({str}[{idx}])
		{dt}.time().hour
		statistics.mode({ints})
		len(frozenset({ints}))
		len(re.findall({pat}, {hay}))
		re.search({pat}, {hay}).start()
		re.search({pat}, {hay}).end({small})
		sum(next({v}) for {v} in [iter({ints})] for {w} in range({small}))`),
	"num": lines(`
		statistics.mean({ints})
		statistics.mean({floats})
		statistics.mean([{num}, {num}])
		statistics.mean({v}['stars'] for {v} in {exts})
		statistics.median({ints})
		statistics.median({floats})
		statistics.median([{num}, {num}, {num}])
		statistics.variance({ints})
		statistics.pvariance({floats})
		statistics.variance([{num}, {num}, {int}])
		statistics.mode([{num}, {num}])`),
	"float": lines(`
		statistics.fmean({ints})
		statistics.fmean({floats})
		statistics.stdev({ints})
		statistics.stdev({floats})
		statistics.pstdev([{num}, {num}])
		statistics.pstdev({floats})`),
	"str": lines(`
		repr({any})
		repr({counter})
		format({float}, '{fspec}')
		format({int}, '{ispec}')
		format({str}, '{sspec}')
		format({any}, '{spec}')
		format({any})
		f'{(}{str}:{spec}{)}'
		f'{(}{any}:{spec}{)}'
		chr({int})
		chr(ord({str}[{idx}]) + {small})
		re.sub({pat}, {str}, {hay})
		re.sub({pat}, {tmpl}, {hay})
		re.sub({pat}, {tmpl}, {hay}, {small})
		re.sub({pat}, lambda {v}: {v}.group().upper(), {hay})
		re.sub({pat}, lambda {v}: {any}, {hay})
		re.search({pat}, {hay}).group()
		re.search({pat}, {hay}).group({small})
		re.match({pat}, {hay})[0]
		re.escape({str})
		str({dt}.time())
		{counter}.most_common(1)[0][0]
		max({counter}, key={counter}.get)
		next(iter({strs}), 'none')
		next(({v} for {v} in {strs} if {bool@v:str}), {str})
		str({counter})`),
	"strs": lines(`
		re.findall({pat}, {hay})
		re.findall({pat}, {hay}, {flags})
		re.split({pat}, {hay})
		re.split({pat}, {hay}, {idx})
		[{v}.group() for {v} in re.finditer({pat}, {hay}, {flags})]
		list(dict.fromkeys({strs}))
		[{v} for {v}, {w} in {counter}.most_common({small})]
		list({counter})`),
	"dict": lines(`
		dict.fromkeys({strs}, {int})
		dict.fromkeys({str})
		dict({counter})
		re.search({pat}, {hay}).groupdict()
		{dict} | {counter}
		{counter} | {dict}`),
	"counter": lines(`
		Counter({strs})
		Counter({str})
		Counter({ints})
		Counter({dict})
		Counter({dict}, a={int}, nut={small})
		Counter({v}['a'] for {v} in {exts})
		collections.Counter({hay})
		Counter({(}{v}: {w} - 1 for {v}, {w} in {counter}.items(){)})
		Counter({counter})`),
	"bool": lines(`
		{counter} == {dict}
		{dict} {cmp} {counter}
		{str} in {counter}
		re.search({pat}, {hay}) is not None
		bool(re.match({pat}, {hay}, {flags}))
		bool(re.fullmatch({pat}, {hay}))
		any(re.search({pat}, {v}) for {v} in {strs})
		frozenset({ints}) {cmp} {set}
		{set} in {(}frozenset({ints}), 1{)}
		isinstance({anyset}, (Counter, frozenset))
		{dt}.time() {cmp} {dt}.time()
		next(({bool@v:int} for {v} in {ints}), {bool})`),
	"set": lines(`
		frozenset({ints})
		frozenset({ints}) | {set}
		{set} - frozenset({ints})
		frozenset({set}).union({ints})
		set(Counter({ints}))`),
	"sset": lines(`
		frozenset({strs})
		frozenset({str}) & {sset}
		{dict}.keys() & frozenset({strs})
		frozenset({strs}) ^ {dict}.keys()
		set({counter})`),
	"tuple": lines(`
		re.search({pat}, {hay}).groups()
		re.search({pat}, {hay}).groups({str})
		re.search({pat}, {hay}).span({small})
		re.search({pat}, {hay}).group(0, {small})
		{counter}.most_common(1)[0]
		tuple({counter}.most_common({idx}))
		next(zip({strs}, {ints}))
		next(iter({dict}.items()), ())`),
	"dt": lines(``),
	"obj": lines(`
		next(iter({any}), None)
		next(iter({any}))
		next({any})
		list(map(lambda {v}: next(iter({ints})), {ints}))
		list(filter(lambda {v}: next(iter({ints})), {strs}))
		list(next(iter({ints})) for {v} in {strs})
		[next(iter({ints})) for {v} in {strs}]
		re.search({pat}, {hay})
		re.search({pat}, {any})
		re.findall({pat}, {hay})
		{counter}
		{counter}.get({str})
		Counter({any})
		Counter({any}).most_common({idx})
		statistics.mean({any})
		statistics.median({any})
		statistics.mode({any})
		{dt}.time()
		time({int}, {small})
		{dt}.time() - {delta}
		len(frozenset({any}))
		dict.fromkeys({any})
		format({any}, {str})
		ord({any})`),
}
