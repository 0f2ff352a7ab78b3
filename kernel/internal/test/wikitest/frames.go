package wikitest

// languages is a list of links to the article in other languages.
const languages = `<ul class="vector-menu-content-list"><li class="interlanguage-link interwiki-de mw-list-item"><a href="https://de.example/wiki/J" lang="de"><span>Junkdeutsch</span></a></li><li class="interlanguage-link interwiki-fr mw-list-item"><a href="https://fr.example/wiki/J"><span>Junkfrançais</span></a></li></ul>`

// menu is a menu of links.
const menu = `<ul><li id="n-mainpage" class="mw-list-item"><a href="/wiki/Main_Page"><span>Junk main page</span></a></li><li id="ca-edit"><a href="/w/index.php?title=X&amp;action=edit"><span>Junk edit</span></a></li></ul>`

// categories stand below the text.
const categories = `<div id="catlinks" class="catlinks" data-mw="interface"><div id="mw-normal-catlinks" class="mw-normal-catlinks"><a href="/wiki/Help:Category">Categories</a>: <ul><li><a href="/wiki/Category:Junk">Junk</a></li></ul></div></div>`

// footer is at the end of the page.
const footer = `<ul id="footer-info"><li id="footer-info-lastmod">Junk was last edited</li></ul><ul id="footer-places"><li><a href="/wiki/Junk:Privacy">Junk policy</a></li></ul>`

// frames are the bodies of the skins, around {title}, {redirected} and {text}.
func frames() map[string]string {
	minerva := `<body class="mediawiki ltr sitedir-ltr mw-hide-empty-elt ns-0 skin-minerva action-view">
<div id="mw-mf-viewport"><div id="mw-mf-page-center"><header class="header-container header-chrome"><nav class="minerva-header"><input type="checkbox" id="main-menu-input">` + menu + `<form action="/w/index.php" class="search-box"><input class="search" placeholder="Search Junkpedia"></form></nav></header>
<main id="content" class="mw-body"><div class="banner-container"><div id="siteNotice">Junk notice</div></div>
<div class="pre-content heading-holder"><div class="page-heading"><h1 id="firstHeading" class="firstHeading mw-first-heading"><span class="mw-page-title-main">{title}</span></h1><div class="tagline">Junk tagline</div></div><nav class="page-actions-menu">` + menu + `</nav>{redirected}</div>
<div id="bodyContent" class="content">{text}</div></main><footer class="mw-footer minerva-footer"><div class="post-content">` + languages + footer + `</div></footer></div></div></body>`
	return map[string]string{
		"vector-legacy": `<body class="mediawiki ltr sitedir-ltr mw-hide-empty-elt ns-0 skin-vector action-view skin-vector-legacy">
<div id="mw-page-base" class="noprint"></div><div id="mw-head-base" class="noprint"></div>
<div id="content" class="mw-body" role="main"><a id="top"></a><div id="siteNotice"><div class="mw-parser-output">Junk notice</div></div><div class="mw-indicators"><div id="mw-indicator-protection" class="mw-indicator"><div class="mw-parser-output">junk lock</div></div></div>
<h1 id="firstHeading" class="firstHeading mw-first-heading"><span class="mw-page-title-main">{title}</span></h1>
<div id="bodyContent" class="vector-body"><div id="siteSub" class="noprint">From Junkpedia</div><div id="contentSub">{redirected}</div><a class="mw-jump-link" href="#mw-head">Jump to junk</a>{text}` + categories + `</div></div>
<div id="mw-navigation"><h2>Navigation menu of junk</h2><div id="mw-head"><nav id="p-personal" class="vector-menu">` + menu + `</nav></div><div id="mw-panel"><div id="p-logo" role="banner"></div><nav class="vector-menu">` + menu + `</nav><nav id="p-lang" class="vector-menu">` + languages + `</nav></div></div><footer id="footer" class="mw-footer">` + footer + `</footer></body>`,
		"vector-2022": `<body class="skin--responsive skin-vector skin-vector-search-vue mediawiki ltr sitedir-ltr ns-0 skin-vector-2022 action-view"><a class="mw-jump-link" href="#bodyContent">Jump to junk</a>
<div class="vector-header-container"><header class="vector-header mw-header"><nav class="vector-main-menu-landmark">` + menu + `</nav></header></div>
<div class="mw-page-container"><div class="mw-page-container-inner"><div class="vector-sitenotice-container"><div id="siteNotice">Junk notice</div></div>
<div class="vector-column-start"><div class="vector-main-menu-container"><div id="mw-navigation">` + menu + `</div></div><div class="vector-sticky-pinned-container"><nav id="mw-panel-toc" class="mw-table-of-contents-container"><div id="vector-toc" class="vector-toc"><h2 class="vector-pinnable-header-label">Junk contents</h2><ul class="vector-toc-contents"><li class="vector-toc-list-item"><a class="vector-toc-link" href="#X"><div class="vector-toc-text"><span class="vector-toc-numb">1</span><span>Junk</span></div></a></li></ul></div></nav></div></div>
<div class="mw-content-container"><main id="content" class="mw-body"><header class="mw-body-header vector-page-titlebar"><nav class="vector-toc-landmark">junk</nav><h1 id="firstHeading" class="firstHeading mw-first-heading"><span class="mw-page-title-main">{title}</span></h1><div id="p-lang-btn" class="vector-dropdown">` + languages + `</div></header>
<div class="vector-page-toolbar">` + menu + `</div><div id="bodyContent" class="vector-body ve-init-mw-desktopArticleTarget-targetContainer" data-mw-ve-target-container><div class="vector-body-before-content"><div class="mw-indicators"></div><div id="siteSub" class="noprint">From Junkpedia</div></div><div id="contentSub"><div id="mw-content-subtitle">{redirected}</div></div>{text}` + categories + `</div></main></div>
<div class="mw-footer-container"><footer id="footer" class="mw-footer">` + footer + `</footer></div></div></div></body>`,
		"minerva":     minerva,
		"minerva-old": minerva,
		"monobook": `<body class="mediawiki ltr sitedir-ltr ns-0 skin-monobook action-view"><div id="globalWrapper"><div id="column-content"><div id="content" class="mw-body" role="main"><a id="top"></a><div id="siteNotice">Junk notice</div>
<h1 id="firstHeading" class="firstHeading">{title}</h1><div id="bodyContent" class="monobook-body"><div id="siteSub">From Junkpedia</div><div id="contentSub">{redirected}</div><div id="jump-to-nav"></div><a href="#column-one" class="mw-jump-link">Jump to junk</a>{text}` + categories + `<div class="visualClear"></div></div></div></div>
<div id="column-one"><h2>Navigation menu of junk</h2><div role="navigation" class="portlet" id="p-cactions"><h3>Page actions of junk</h3>` + menu + `</div><div role="navigation" class="portlet" id="p-lang"><h3>In other junk</h3>` + languages + `</div></div><div id="footer" class="mw-footer" role="contentinfo">` + footer + `</div></div></body>`,
		"timeless": `<body class="mediawiki ltr sitedir-ltr ns-0 skin-timeless action-view"><div id="mw-wrapper"><div id="mw-header-container" class="ts-container"><div id="mw-header"><div id="p-search">junk</div></div></div>
<div id="mw-content-container" class="ts-container"><div id="mw-content-block"><div id="mw-content-wrapper"><div id="mw-content"><div id="content" class="mw-body" role="main"><div class="mw-indicators"></div><h1 id="firstHeading" class="firstHeading">{title}</h1><div id="bodyContentOuter"><div id="siteSub">From Junkpedia</div><div id="mw-page-header-links">` + menu + `</div><div id="bodyContent"><div id="contentSub">{redirected}</div>{text}</div></div></div></div></div>
<div id="mw-site-navigation"><div role="navigation" class="mw-portlet"><h3>Junk navigation</h3>` + menu + `</div></div><div id="mw-related-navigation"><div id="p-lang" class="mw-portlet">` + languages + `</div>` + categories + `</div></div></div><div id="mw-footer-container"><div id="mw-footer" role="contentinfo">` + footer + `</div></div></div></body>`,
	}
}
