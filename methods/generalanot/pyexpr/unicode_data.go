package pyexpr

// What Unicode says of letters and numbers beyond package unicode, which maps
// one character to one and knows categories alone. Each word of a table is a
// character and what it becomes. Source: CPython 3.11, Unicode 14.
const (
	upperSpecial = "" +
		"\u00dfSS ŉʼN ǰJ\u030c ΐΙ\u0308\u0301 ΰΥ\u0308\u0301 ևԵՒ ẖH\u0331 ẗT\u0308 ẘW\u030a ẙY\u030a ẚAʾ ὐΥ\u0313 " +
		"ὒΥ\u0313\u0300 ὔΥ\u0313\u0301 ὖΥ\u0313\u0342 ᾀἈΙ ᾁἉΙ ᾂἊΙ ᾃἋΙ ᾄἌΙ ᾅἍΙ ᾆἎΙ ᾇἏΙ ᾈἈΙ " +
		"ᾉἉΙ ᾊἊΙ ᾋἋΙ ᾌἌΙ ᾍἍΙ ᾎἎΙ ᾏἏΙ ᾐἨΙ ᾑἩΙ ᾒἪΙ ᾓἫΙ ᾔἬΙ " +
		"ᾕἭΙ ᾖἮΙ ᾗἯΙ ᾘἨΙ ᾙἩΙ ᾚἪΙ ᾛἫΙ ᾜἬΙ ᾝἭΙ ᾞἮΙ ᾟἯΙ ᾠὨΙ " +
		"ᾡὩΙ ᾢὪΙ ᾣὫΙ ᾤὬΙ ᾥὭΙ ᾦὮΙ ᾧὯΙ ᾨὨΙ ᾩὩΙ ᾪὪΙ ᾫὫΙ ᾬὬΙ " +
		"ᾭὭΙ ᾮὮΙ ᾯὯΙ ᾲᾺΙ ᾳΑΙ ᾴΆΙ ᾶΑ\u0342 ᾷΑ\u0342Ι ᾼΑΙ ῂῊΙ ῃΗΙ ῄΉΙ " +
		"ῆΗ\u0342 ῇΗ\u0342Ι ῌΗΙ ῒΙ\u0308\u0300 ΐΙ\u0308\u0301 ῖΙ\u0342 ῗΙ\u0308\u0342 ῢΥ\u0308\u0300 ΰΥ\u0308\u0301 ῤΡ\u0313 ῦΥ\u0342 ῧΥ\u0308\u0342 " +
		"ῲῺΙ ῳΩΙ ῴΏΙ ῶΩ\u0342 ῷΩ\u0342Ι ῼΩΙ ﬀFF ﬁFI ﬂFL ﬃFFI ﬄFFL ﬅST " +
		"ﬆST ﬓՄՆ ﬔՄԵ ﬕՄԻ ﬖՎՆ ﬗՄԽ "

	titleSpecial = "" +
		"\u00dfSs ŉʼN ǰJ\u030c ΐΙ\u0308\u0301 ΰΥ\u0308\u0301 ևԵւ ẖH\u0331 ẗT\u0308 ẘW\u030a ẙY\u030a ẚAʾ ὐΥ\u0313 " +
		"ὒΥ\u0313\u0300 ὔΥ\u0313\u0301 ὖΥ\u0313\u0342 ᾲᾺ\u0345 ᾴΆ\u0345 ᾶΑ\u0342 ᾷΑ\u0342\u0345 ῂῊ\u0345 ῄΉ\u0345 ῆΗ\u0342 ῇΗ\u0342\u0345 ῒΙ\u0308\u0300 " +
		"ΐΙ\u0308\u0301 ῖΙ\u0342 ῗΙ\u0308\u0342 ῢΥ\u0308\u0300 ΰΥ\u0308\u0301 ῤΡ\u0313 ῦΥ\u0342 ῧΥ\u0308\u0342 ῲῺ\u0345 ῴΏ\u0345 ῶΩ\u0342 ῷΩ\u0342\u0345 " +
		"ﬀFf ﬁFi ﬂFl ﬃFfi ﬄFfl ﬅSt ﬆSt ﬓՄն ﬔՄե ﬕՄի ﬖՎն ﬗՄխ "

	// foldSpecial is what casefold maps otherwise than lower, besides
	// what upperSpecial tells.
	foldSpecial = "" +
		"\u00b5μ ſs \u0345ι ςσ ϐβ ϑθ ϕφ ϖπ ϰκ ϱρ ϵε ᲀв " +
		"ᲁд ᲂо ᲃс ᲄт ᲅт ᲆъ ᲇѣ ᲈꙋ ẛṡ ιι "

	// digitChars are digits that are not decimal ones.
	digitChars = "" +
		"\u00b2\u00b3\u00b9\u1369\u136a\u136b\u136c\u136d\u136e\u136f\u1370\u1371\u19da\u2070\u2074\u2075\u2076\u2077\u2078\u2079\u2080\u2081\u2082\u2083" +
		"\u2084\u2085\u2086\u2087\u2088\u2089\u2460\u2461\u2462\u2463\u2464\u2465\u2466\u2467\u2468\u2474\u2475\u2476\u2477\u2478\u2479\u247a\u247b\u247c" +
		"\u2488\u2489\u248a\u248b\u248c\u248d\u248e\u248f\u2490\u24ea\u24f5\u24f6\u24f7\u24f8\u24f9\u24fa\u24fb\u24fc\u24fd\u24ff\u2776\u2777\u2778\u2779" +
		"\u277a\u277b\u277c\u277d\u277e\u2780\u2781\u2782\u2783\u2784\u2785\u2786\u2787\u2788\u278a\u278b\u278c\u278d\u278e\u278f\u2790\u2791\u2792\U00010a40" +
		"\U00010a41\U00010a42\U00010a43\U00010e60\U00010e61\U00010e62\U00010e63\U00010e64\U00010e65\U00010e66\U00010e67\U00010e68\U00011052\U00011053\U00011054\U00011055\U00011056\U00011057\U00011058\U00011059\U0001105a\U0001f100\U0001f101\U0001f102" +
		"\U0001f103\U0001f104\U0001f105\U0001f106\U0001f107\U0001f108\U0001f109\U0001f10a"

	// numericChars are letters that are numbers.
	numericChars = "" +
		"㐅㒃㠪㭍一七万三九二五亖亿什仟仨伍佰億兆兩八六十" +
		"千卄卅卌叁参參叄四壱壹幺廾廿弌弍弎弐拾捌柒漆玖百" +
		"肆萬貮貳贰阡陆陌陸零參拾兩零六陸什𠀁𠁤𠃢𠄡𠤪𠦃𠦌" +
		"𠦜𠫪𠫽𠬙𢎐𢦘𣬛𦉭廾"
)
