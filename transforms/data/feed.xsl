<?xml version="1.0" encoding="UTF-8"?>
<!-- Feeds (RSS 0.90 to 2.0, RSS 1.1, Atom 0.3 and 1.0, CDF, with their extensions) to the vocabulary
     of RSS 1.0, Dublin Core, FOAF, SKOS and the extensions' own. docs/XML.md has the table.

     What is RDF already (RSS 0.90, 1.0, 1.1) is also read as RDF; there this stylesheet says only what
     that does not: links as IRIs, typed dates, plain texts, people. -->
<xsl:stylesheet version="1.0"
  xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
  xmlns:q="https://quadrille.example/transform#"
  xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
  xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"
  xmlns:xsd="http://www.w3.org/2001/XMLSchema#"
  xmlns:rss="http://purl.org/rss/1.0/"
  xmlns:rss091="http://purl.org/rss/1.0/modules/rss091#"
  xmlns:rss2="http://backend.userland.com/rss2#"
  xmlns:atom="http://www.w3.org/2005/Atom"
  xmlns:app="http://www.w3.org/2007/app"
  xmlns:xhtml="http://www.w3.org/1999/xhtml"
  xmlns:dc="http://purl.org/dc/elements/1.1/"
  xmlns:dcterms="http://purl.org/dc/terms/"
  xmlns:content="http://purl.org/rss/1.0/modules/content/"
  xmlns:enc="http://purl.oclc.org/net/rss_2.0/enc#"
  xmlns:media="http://search.yahoo.com/mrss/"
  xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"
  xmlns:podcast="https://podcastindex.org/namespace/1.0"
  xmlns:psc="http://podlove.org/simple-chapters"
  xmlns:georss="http://www.georss.org/georss/"
  xmlns:gml="http://www.opengis.net/gml/"
  xmlns:geo="http://www.w3.org/2003/01/geo/wgs84_pos#"
  xmlns:cc="http://creativecommons.org/ns#"
  xmlns:admin="http://webns.net/mvcb/"
  xmlns:wfw="http://wellformedweb.org/CommentAPI/"
  xmlns:feedburner="http://rssnamespace.org/feedburner/ext/1.0"
  xmlns:foaf="http://xmlns.com/foaf/0.1/"
  xmlns:skos="http://www.w3.org/2004/02/skos/core#"
  xmlns:sioc="http://rdfs.org/sioc/ns#"
  exclude-result-prefixes="q xsl atom app xhtml psc xsd wfw feedburner podcast">
<xsl:output method="xml" encoding="UTF-8"/>

<!-- ==== what is the same by other names ==== -->
<q:when type="application/rdf+xml" text="http://purl.org/rss/1.0/ http://my.netscape.com/rdf/simple/0.9/ http://channel.netscape.com/rdf/simple/0.9/ http://purl.org/net/rss1.1# http://my.netscape.com/publish/formats/rss"/>
<q:root name="feed" as="http://www.w3.org/2005/Atom"/>
<q:root name="entry" as="http://www.w3.org/2005/Atom"/>
<q:root name="rss" as="http://purl.org/rss/1.0/"/>
<q:root name="channel" as="http://purl.org/rss/1.0/"/>
<q:namespace iri="" as="http://purl.org/rss/1.0/" names="lower"/>
<q:namespace iri="http://my.netscape.com/rdf/simple/0.9/" as="http://purl.org/rss/1.0/"/>
<q:namespace iri="http://channel.netscape.com/rdf/simple/0.9/" as="http://purl.org/rss/1.0/"/>
<q:namespace iri="http://my.netscape.com/publish/formats/rss-0.91.dtd" as="http://purl.org/rss/1.0/"/>
<q:namespace iri="http://purl.org/net/rss1.1#" as="http://purl.org/rss/1.0/" names="lower"/>
<q:namespace iri="http://backend.userland.com/rss" as="http://purl.org/rss/1.0/"/>
<q:namespace iri="http://backend.userland.com/rss2" as="http://purl.org/rss/1.0/"/>
<q:namespace iri="http://backend.userland.com/rss2.1" as="http://purl.org/rss/1.0/"/>
<q:namespace iri="http://backend.userland.com/RSS2" as="http://purl.org/rss/1.0/"/>
<q:namespace iri="http://blogs.law.harvard.edu/tech/rss" as="http://purl.org/rss/1.0/"/>
<q:namespace iri="http://cyber.law.harvard.edu/rss/" as="http://purl.org/rss/1.0/" prefix="rss"/>
<q:namespace iri="http://purl.org/atom/ns#" as="http://www.w3.org/2005/Atom" prefix="atom"/>
<q:namespace iri="http://purl.org/net/rss1.1/payload#" as="http://purl.org/rss/1.0/modules/content/"/>
<q:namespace iri="http://purl.org/rss/1.0/modules/content" as="http://purl.org/rss/1.0/modules/content/" prefix="content"/>
<q:namespace iri="http://search.yahoo.com/mrss" as="http://search.yahoo.com/mrss/" prefix="media"/>
<q:namespace iri="http://tools.search.yahoo.com/mrss/" as="http://search.yahoo.com/mrss/"/>
<q:namespace iri="http://video.search.yahoo.com/mrss" as="http://search.yahoo.com/mrss/"/>
<q:namespace iri="http://video.search.yahoo.com/mrss/" as="http://search.yahoo.com/mrss/"/>
<q:namespace iri="http://www.rssboard.org/media-rss" as="http://search.yahoo.com/mrss/"/>
<q:namespace iri="http://www.itunes.com/DTDs/Podcast-1.0.dtd" as="http://www.itunes.com/dtds/podcast-1.0.dtd" prefix="itunes"/>
<q:namespace iri="http://www.itunes.com/DTDs/PodCast-1.0.dtd" as="http://www.itunes.com/dtds/podcast-1.0.dtd"/>
<q:namespace iri="http://www.itunes.com/dtds/Podcast-1.0.dtd" as="http://www.itunes.com/dtds/podcast-1.0.dtd"/>
<q:namespace iri="http://www.itunes.com/DTDs/podcast-1.0.dtd" as="http://www.itunes.com/dtds/podcast-1.0.dtd"/>
<q:namespace iri="http://example.com/DTDs/PodCast-1.0.dtd" as="http://www.itunes.com/dtds/podcast-1.0.dtd"/>
<q:namespace iri="https://github.com/Podcastindex-org/podcast-namespace/blob/main/docs/1.0.md" as="https://podcastindex.org/namespace/1.0" prefix="podcast"/>
<q:namespace iri="http://www.georss.org/georss" as="http://www.georss.org/georss/" prefix="georss"/>
<q:namespace iri="http://www.georss.org/georss/10" as="http://www.georss.org/georss/"/>
<q:namespace iri="http://www.opengis.net/gml" as="http://www.opengis.net/gml/" prefix="gml"/>
<q:namespace iri="http://www.w3.org/2003/01/geo/wgs84_pos" as="http://www.w3.org/2003/01/geo/wgs84_pos#" prefix="geo"/>
<q:namespace iri="http://purl.org/dc/elements/1.0/" as="http://purl.org/dc/elements/1.1/" prefix="dc"/>
<q:namespace iri="http://purl.org/dc/elements/1.1" as="http://purl.org/dc/elements/1.1/"/>
<q:namespace iri="http://purl.org/dc/elements/2.0/" as="http://purl.org/dc/elements/1.1/"/>
<q:namespace iri="http://purl.org/rss/1.0/modules/dcterms/" as="http://purl.org/dc/terms/" prefix="dcterms"/>
<q:namespace iri="http://web.resource.org/cc/" as="http://creativecommons.org/ns#" prefix="cc"/>
<q:namespace iri="http://backend.userland.com/creativeCommonsRssModule" as="http://creativecommons.org/ns#" prefix="creativeCommons"/>
<q:namespace iri="http://www.creativecommons.org/ns#" as="http://creativecommons.org/ns#"/>
<q:namespace iri="http://purl.org/rss/1.0/modules/slash/" as="http://purl.org/rss/1.0/modules/slash/" prefix="slash"/>
<q:namespace iri="http://purl.org/rss/1.0/modules/syndication/" as="http://purl.org/rss/1.0/modules/syndication/" prefix="sy"/>
<q:namespace iri="http://wellformedweb.org/CommentAPI/" as="http://wellformedweb.org/CommentAPI/" prefix="wfw"/>
<q:namespace iri="http://purl.org/syndication/thread/1.0" as="http://purl.org/syndication/thread/1.0" prefix="thr"/>
<q:namespace iri="http://rssnamespace.org/feedburner/ext/1.0" as="http://rssnamespace.org/feedburner/ext/1.0" prefix="feedburner"/>
<q:namespace iri="http://www.w3.org/1999/02/22-rdf-syntax-ns" as="http://www.w3.org/1999/02/22-rdf-syntax-ns#" prefix="rdf"/>

<xsl:variable name="channel-language" select="string((/*/rss:channel | /rss:channel)[1]/rss:language)"/>
<xsl:variable name="is-rdf" select="boolean(/rdf:RDF or /*[@rdf:about])"/>

<!-- ==== feed and entries ==== -->
<xsl:template match="/">
  <rdf:RDF>
    <xsl:variable name="channel" select="(/atom:feed | //rss:channel[not(ancestor::rss:channel or ancestor::rss:item)])[1]"/>
    <xsl:for-each select="$channel">
      <rss:channel>
        <xsl:attribute name="rdf:about">
          <xsl:choose>
            <xsl:when test="@rdf:about"><xsl:value-of select="q:resolve(string(@rdf:about))"/></xsl:when>
            <xsl:otherwise><xsl:value-of select="q:uri()"/></xsl:otherwise>
          </xsl:choose>
        </xsl:attribute>
        <xsl:if test="not($is-rdf)">
          <xsl:if test="@xml:lang and self::atom:feed and q:language('')"><dcterms:language><xsl:value-of select="q:language('')"/></dcterms:language></xsl:if>
        </xsl:if>
        <xsl:apply-templates select="@*" mode="property"/>
        <xsl:apply-templates select="* | ../rss:image[not($is-rdf)] | ../rss:textinput[not($is-rdf)]" mode="property"/>
        <xsl:if test="//rss:item | //atom:entry | //atom:item">
          <xsl:choose>
            <xsl:when test="$is-rdf"/>
            <xsl:otherwise>
              <rss:items><rdf:Seq>
                <xsl:for-each select="//rss:item | //atom:entry | //atom:item"><rdf:li><xsl:call-template name="item"/></rdf:li></xsl:for-each>
              </rdf:Seq></rss:items>
            </xsl:otherwise>
          </xsl:choose>
        </xsl:if>
      </rss:channel>
      <xsl:if test="@rdf:about and q:resolve(string(@rdf:about)) != q:uri()">
        <rdf:Description rdf:about="{q:uri()}"><foaf:primaryTopic rdf:resource="{q:resolve(string(@rdf:about))}"/></rdf:Description>
      </xsl:if>
    </xsl:for-each>
    <xsl:for-each select="/*/rss:redirect"><rdf:Description rdf:about="{q:uri()}"><xsl:apply-templates select="*" mode="property"/></rdf:Description></xsl:for-each>
    <xsl:if test="$is-rdf or not($channel)">
      <xsl:for-each select="//rss:item | //atom:entry | //atom:item"><xsl:call-template name="item"/></xsl:for-each>
    </xsl:if>
  </rdf:RDF>
</xsl:template>

<!-- The IRI of an item: what RDF says, its link, its guid or id when that is one. -->
<xsl:template name="about">
  <xsl:variable name="link" select="(rss:link[normalize-space(.)] | rss:link/@href | @href | rss:a/@href
    | atom:link[@href][not(@rel) or translate(@rel, 'ALTERN', 'altern') = 'alternate']/@href
    | rss:guid[not(@ispermalink) or translate(@ispermalink, 'TRUE', 'true') = 'true'][contains(., '://')][not(../rss:link[normalize-space(.)])]
    | atom:id[contains(., ':')][not(../atom:link[@href][not(@rel) or @rel = 'alternate'])])[1]"/>
  <xsl:choose>
    <xsl:when test="@rdf:about"><xsl:value-of select="q:resolve(string(@rdf:about))"/></xsl:when>
    <xsl:otherwise><xsl:for-each select="$link"><xsl:value-of select="q:resolve(string(.))"/></xsl:for-each></xsl:otherwise>
  </xsl:choose>
</xsl:template>

<xsl:template name="item">
  <xsl:variable name="about"><xsl:call-template name="about"/></xsl:variable>
  <xsl:variable name="name" select="q:once(string($about))"/>
  <rss:item>
    <xsl:choose>
      <xsl:when test="$name"><xsl:attribute name="rdf:about"><xsl:value-of select="$name"/></xsl:attribute></xsl:when>
      <xsl:when test="string($about)"><rss:link rdf:resource="{$about}"/></xsl:when>
    </xsl:choose>
    <dcterms:isPartOf rdf:resource="{q:uri()}"/>
    <xsl:apply-templates select="@*" mode="property"/>
    <xsl:apply-templates select="*" mode="property"/>
    <!-- The markup of a description is the content where there is no other. -->
    <xsl:if test="not(content:* | xhtml:body | xhtml:div | rss:body | rss:fullitem | atom:content)">
      <xsl:for-each select="(rss:description | rss:summary | atom:summary | rss:abstract)[1]">
        <xsl:variable name="html" select="q:html(.)"/>
        <xsl:if test="contains($html, '&lt;')"><xsl:call-template name="content"><xsl:with-param name="html" select="$html"/></xsl:call-template></xsl:if>
      </xsl:for-each>
    </xsl:if>
  </rss:item>
</xsl:template>

<!-- ==== parts of properties ==== -->
<xsl:template name="language">
  <xsl:variable name="language" select="q:language($channel-language)"/>
  <xsl:if test="$language"><xsl:attribute name="xml:lang"><xsl:value-of select="$language"/></xsl:attribute></xsl:if>
</xsl:template>

<!-- A property whose value is plain text in a language. -->
<xsl:template name="text">
  <xsl:param name="as"/>
  <xsl:variable name="text" select="q:text(.)"/>
  <xsl:if test="$text">
    <xsl:element name="{$as}"><xsl:call-template name="language"/><xsl:value-of select="$text"/></xsl:element>
    <xsl:call-template name="links"/>
  </xsl:if>
</xsl:template>

<xsl:template name="links">
  <xsl:for-each select="q:links(.)">
    <xsl:choose>
      <xsl:when test="self::a"><sioc:links_to rdf:resource="{.}"/></xsl:when>
      <xsl:otherwise><foaf:depiction rdf:resource="{.}"/></xsl:otherwise>
    </xsl:choose>
  </xsl:for-each>
</xsl:template>

<xsl:template name="content">
  <xsl:param name="html" select="q:html(.)"/>
  <xsl:if test="$html"><content:encoded><xsl:call-template name="language"/><xsl:value-of select="$html"/></content:encoded></xsl:if>
</xsl:template>

<!-- A property whose value is a string as it stands. -->
<xsl:template name="string">
  <xsl:param name="as"/>
  <xsl:if test="normalize-space(.)"><xsl:element name="{$as}"><xsl:value-of select="normalize-space(.)"/></xsl:element></xsl:if>
</xsl:template>

<!-- A property whose value is an IRI; what cannot be one stays a string. -->
<xsl:template name="iri">
  <xsl:param name="as"/>
  <xsl:param name="reference" select="string(.)"/>
  <xsl:variable name="iri" select="q:resolve($reference)"/>
  <xsl:choose>
    <xsl:when test="$iri"><xsl:element name="{$as}"><xsl:attribute name="rdf:resource"><xsl:value-of select="$iri"/></xsl:attribute></xsl:element></xsl:when>
    <xsl:when test="normalize-space($reference)"><xsl:element name="{$as}"><xsl:value-of select="normalize-space($reference)"/></xsl:element></xsl:when>
  </xsl:choose>
</xsl:template>

<xsl:template name="date">
  <xsl:param name="as"/>
  <xsl:variable name="date" select="q:date(string(.))"/>
  <xsl:choose>
    <xsl:when test="$date">
      <xsl:element name="{$as}">
        <xsl:attribute name="rdf:datatype">
          <xsl:text>http://www.w3.org/2001/XMLSchema#date</xsl:text>
          <xsl:if test="contains($date, 'T')">Time</xsl:if>
        </xsl:attribute>
        <xsl:value-of select="$date"/>
      </xsl:element>
    </xsl:when>
    <xsl:otherwise><xsl:call-template name="string"><xsl:with-param name="as" select="$as"/></xsl:call-template></xsl:otherwise>
  </xsl:choose>
</xsl:template>

<!-- A person: the name as a string, and an agent when there is more than that. -->
<xsl:template name="person">
  <xsl:param name="as"/>
  <xsl:param name="agent"/>
  <xsl:param name="all" select="string(.)"/>
  <xsl:param name="name" select="q:name($all)"/>
  <xsl:param name="mail" select="q:mail($all)"/>
  <xsl:param name="page"/>
  <xsl:choose>
    <xsl:when test="$name"><xsl:element name="{$as}"><xsl:value-of select="$name"/></xsl:element></xsl:when>
    <xsl:when test="$mail"><xsl:element name="{$as}"><xsl:value-of select="substring-after($mail, ':')"/></xsl:element></xsl:when>
    <xsl:when test="$page"><xsl:element name="{$as}"><xsl:value-of select="$page"/></xsl:element></xsl:when>
  </xsl:choose>
  <xsl:if test="$mail or $page">
    <xsl:element name="{$agent}">
      <foaf:Agent>
        <xsl:if test="$name"><foaf:name><xsl:value-of select="$name"/></foaf:name></xsl:if>
        <xsl:if test="$mail"><foaf:mbox rdf:resource="{$mail}"/></xsl:if>
        <xsl:if test="$page"><foaf:homepage rdf:resource="{$page}"/></xsl:if>
      </foaf:Agent>
    </xsl:element>
  </xsl:if>
</xsl:template>

<xsl:template name="person-of-parts">
  <xsl:param name="as"/>
  <xsl:param name="agent"/>
  <xsl:variable name="page"><xsl:for-each select="(atom:uri | atom:url | atom:homepage | rss:uri | rss:url | rss:homepage)[normalize-space(.)][1]"><xsl:value-of select="q:resolve(string(.))"/></xsl:for-each></xsl:variable>
  <xsl:variable name="parts" select="(atom:name | rss:name | itunes:name)[normalize-space(.)][1]"/>
  <xsl:variable name="name"><xsl:choose>
    <xsl:when test="$parts"><xsl:value-of select="$parts"/></xsl:when>
    <xsl:when test="not(atom:email | atom:uri | atom:url | rss:email | rss:uri | itunes:email)"><xsl:value-of select="."/></xsl:when>
  </xsl:choose></xsl:variable>
  <xsl:call-template name="person">
    <xsl:with-param name="as" select="$as"/>
    <xsl:with-param name="agent" select="$agent"/>
    <xsl:with-param name="name" select="q:name(string($name))"/>
    <xsl:with-param name="mail" select="q:mail(concat(atom:email | rss:email | itunes:email, ' ', $name))"/>
    <xsl:with-param name="page" select="string($page)"/>
  </xsl:call-template>
</xsl:template>

<!-- A category with more than its term is a concept. -->
<xsl:template name="category">
  <xsl:param name="term"/>
  <xsl:param name="scheme"/>
  <xsl:param name="label"/>
  <xsl:if test="normalize-space($term)"><dc:subject><xsl:value-of select="normalize-space($term)"/></dc:subject></xsl:if>
  <xsl:if test="normalize-space($scheme) or normalize-space($label)">
    <dcterms:subject><skos:Concept>
      <xsl:if test="normalize-space($term)"><skos:notation><xsl:value-of select="normalize-space($term)"/></skos:notation></xsl:if>
      <xsl:if test="normalize-space($label)"><skos:prefLabel><xsl:call-template name="language"/><xsl:value-of select="normalize-space($label)"/></skos:prefLabel></xsl:if>
      <xsl:choose>
        <xsl:when test="contains($scheme, ':') and q:resolve($scheme)"><skos:inScheme rdf:resource="{q:resolve($scheme)}"/></xsl:when>
        <xsl:when test="normalize-space($scheme)"><skos:inScheme><rdf:Description><rdfs:label><xsl:value-of select="normalize-space($scheme)"/></rdfs:label></rdf:Description></skos:inScheme></xsl:when>
      </xsl:choose>
    </skos:Concept></dcterms:subject>
  </xsl:if>
</xsl:template>

<xsl:template name="words">
  <xsl:param name="separator"/>
  <xsl:for-each select="q:split(string(.), $separator)"><dc:subject><xsl:value-of select="normalize-space(.)"/></dc:subject></xsl:for-each>
</xsl:template>

<!-- ==== the table: which element says what ==== -->
<xsl:template match="*" mode="property" priority="-2">
  <xsl:if test="not($is-rdf)"><xsl:call-template name="extension"/></xsl:if>
</xsl:template>
<xsl:template match="@*" mode="property"/>
<xsl:template match="rss:* | atom:* | rdf:* | xhtml:*" mode="property" priority="-1"/>

<!-- Texts -->
<xsl:template match="rss:title | atom:title" mode="property"><xsl:call-template name="text"><xsl:with-param name="as" select="'rss:title'"/></xsl:call-template></xsl:template>
<xsl:template match="rss:description | rss:summary | rss:tagline | rss:subtitle | rss:abstract | atom:subtitle | atom:tagline | atom:summary" mode="property">
  <xsl:call-template name="text"><xsl:with-param name="as" select="'rss:description'"/></xsl:call-template>
</xsl:template>
<xsl:template match="atom:info" mode="property"><xsl:call-template name="text"><xsl:with-param name="as" select="'rdfs:comment'"/></xsl:call-template></xsl:template>
<xsl:template match="rss:copyright | rss:rights | dc:rights | atom:rights | atom:copyright" mode="property"><xsl:call-template name="text"><xsl:with-param name="as" select="'dc:rights'"/></xsl:call-template></xsl:template>
<xsl:template match="content:encoded | content:payload | rss:fullitem | rss:body | xhtml:body | xhtml:div | atom:content[not(@src)]" mode="property">
  <xsl:call-template name="content"/>
  <xsl:call-template name="links"/>
</xsl:template>

<!-- Titles and descriptions of modules: as they are, and as the item's where it has none -->
<xsl:template match="dc:title | media:title | itunes:title" mode="property">
  <xsl:if test="not(../rss:title | ../atom:title | ../../self::media:group/..)"><xsl:call-template name="text"><xsl:with-param name="as" select="'rss:title'"/></xsl:call-template></xsl:if>
  <xsl:if test="not($is-rdf)"><xsl:call-template name="extension"/></xsl:if></xsl:template>
<xsl:template match="dc:description | media:description | itunes:summary" mode="property">
  <xsl:if test="not(../rss:description | ../rss:summary | ../atom:summary | ../atom:subtitle | ../atom:tagline)"><xsl:call-template name="text"><xsl:with-param name="as" select="'rss:description'"/></xsl:call-template></xsl:if>
  <xsl:if test="not($is-rdf)"><xsl:call-template name="extension"/></xsl:if></xsl:template>
<xsl:template match="media:group" mode="property"><xsl:apply-templates select="*" mode="property"/></xsl:template>

<!-- Links -->
<xsl:template match="rss:link[normalize-space(.)] | rss:link/@href | rss:a/@href | rss:item/@href | rss:channel/@href" mode="property"><xsl:call-template name="iri"><xsl:with-param name="as" select="'rss:link'"/></xsl:call-template></xsl:template>
<xsl:template match="rss:link[not(normalize-space(.))][@href] | rss:a[@href]" mode="property"><xsl:for-each select="@href"><xsl:call-template name="iri"><xsl:with-param name="as" select="'rss:link'"/></xsl:call-template></xsl:for-each></xsl:template>
<xsl:template match="rss:guid" mode="property">
  <xsl:call-template name="string"><xsl:with-param name="as" select="'dcterms:identifier'"/></xsl:call-template>
  <xsl:if test="(not(@ispermalink) or translate(@ispermalink, 'TRUE', 'true') = 'true') and contains(., '://') and not(../rss:link[normalize-space(.)])">
    <xsl:call-template name="iri"><xsl:with-param name="as" select="'rss:link'"/></xsl:call-template>
  </xsl:if>
</xsl:template>
<xsl:template match="atom:id | dc:identifier" mode="property"><xsl:call-template name="string"><xsl:with-param name="as" select="'dcterms:identifier'"/></xsl:call-template></xsl:template>
<xsl:template match="rss:comments" mode="property"><xsl:call-template name="iri"><xsl:with-param name="as" select="'sioc:links_to'"/></xsl:call-template></xsl:template>
<xsl:template match="wfw:comment | wfw:commentrss | wfw:commentRss | wfw:commentRSS" mode="property"><xsl:call-template name="iri"><xsl:with-param name="as" select="'sioc:links_to'"/></xsl:call-template><xsl:if test="not($is-rdf)"><xsl:call-template name="extension"/></xsl:if></xsl:template>
<xsl:template match="rss:newlocation | itunes:new-feed-url" mode="property"><xsl:call-template name="iri"><xsl:with-param name="as" select="'dcterms:isReplacedBy'"/></xsl:call-template></xsl:template>
<xsl:template match="rss:docs" mode="property"><xsl:call-template name="iri"><xsl:with-param name="as" select="'dcterms:conformsTo'"/></xsl:call-template></xsl:template>
<xsl:template match="rss:enclosure[@url]" mode="property">
  <xsl:call-template name="link"><xsl:with-param name="as" select="'enc:enclosure'"/><xsl:with-param name="reference" select="string(@url)"/></xsl:call-template>
</xsl:template>
<xsl:template match="atom:content[@src]" mode="property">
  <xsl:call-template name="link"><xsl:with-param name="as" select="'dcterms:hasFormat'"/><xsl:with-param name="reference" select="string(@src)"/></xsl:call-template>
</xsl:template>
<xsl:template match="atom:link" mode="property">
  <xsl:variable name="rel" select="translate(normalize-space(@rel), 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')"/>
  <xsl:variable name="reference"><xsl:choose><xsl:when test="@href"><xsl:value-of select="@href"/></xsl:when><xsl:otherwise><xsl:value-of select="."/></xsl:otherwise></xsl:choose></xsl:variable>
  <xsl:variable name="registered" select="'http://www.iana.org/assignments/relation/'"/>
  <xsl:choose>
    <xsl:when test="$rel = '' or $rel = 'alternate' or $rel = concat($registered, 'alternate')"><xsl:call-template name="link"><xsl:with-param name="as" select="'rss:link'"/><xsl:with-param name="reference" select="string($reference)"/></xsl:call-template></xsl:when>
    <xsl:when test="$rel = 'enclosure'"><xsl:call-template name="link"><xsl:with-param name="as" select="'enc:enclosure'"/><xsl:with-param name="reference" select="string($reference)"/></xsl:call-template></xsl:when>
    <xsl:when test="$rel = 'license'"><xsl:call-template name="link"><xsl:with-param name="as" select="'dcterms:license'"/><xsl:with-param name="reference" select="string($reference)"/></xsl:call-template></xsl:when>
    <xsl:when test="$rel = 'service.post' or $rel = 'service.edit' or $rel = 'service.feed' or not(contains($rel, ':')) and q:local(concat($registered, $rel)) = $rel">
      <xsl:call-template name="link"><xsl:with-param name="as" select="concat('r:', $rel)"/><xsl:with-param name="space" select="$registered"/><xsl:with-param name="reference" select="string($reference)"/></xsl:call-template>
    </xsl:when>
    <xsl:when test="contains($rel, ':') and q:local($rel)">
      <xsl:call-template name="link"><xsl:with-param name="as" select="concat('r:', q:local(string(@rel)))"/><xsl:with-param name="space" select="q:namespace(normalize-space(@rel))"/><xsl:with-param name="reference" select="string($reference)"/></xsl:call-template>
    </xsl:when>
    <xsl:otherwise><xsl:call-template name="link"><xsl:with-param name="as" select="'sioc:links_to'"/><xsl:with-param name="reference" select="string($reference)"/></xsl:call-template></xsl:otherwise>
  </xsl:choose>
</xsl:template>

<!-- A link with what is said of its target. -->
<xsl:template name="link">
  <xsl:param name="as"/>
  <xsl:param name="space"/>
  <xsl:param name="reference"/>
  <xsl:variable name="target" select="concat(q:resolve($reference), substring(q:base(), 1, string-length(q:base()) * boolean(@href = '')))"/>
  <xsl:variable name="about">
    <xsl:if test="$target">
      <rdf:Description rdf:about="{$target}">
        <xsl:for-each select="@type[normalize-space(.)]"><dc:format><xsl:value-of select="normalize-space(.)"/></dc:format></xsl:for-each>
        <xsl:for-each select="@length[normalize-space(.)]"><enc:length><xsl:value-of select="normalize-space(.)"/></enc:length></xsl:for-each>
        <xsl:for-each select="@hreflang[normalize-space(.)]"><dc:language><xsl:value-of select="normalize-space(.)"/></dc:language></xsl:for-each>
        <xsl:for-each select="@title[normalize-space(.)]"><rdfs:label><xsl:value-of select="normalize-space(.)"/></rdfs:label></xsl:for-each>
      </rdf:Description>
    </xsl:if>
  </xsl:variable>
  <xsl:choose>
    <xsl:when test="$target and $space"><xsl:element name="{$as}" namespace="{$space}"><xsl:copy-of select="$about"/></xsl:element></xsl:when>
    <xsl:when test="$target"><xsl:element name="{$as}"><xsl:copy-of select="$about"/></xsl:element></xsl:when>
    <xsl:when test="normalize-space($reference) and not($space)"><xsl:element name="{$as}"><xsl:value-of select="normalize-space($reference)"/></xsl:element></xsl:when>
  </xsl:choose>
</xsl:template>
<xsl:template match="cc:license" mode="property"><xsl:call-template name="iri"><xsl:with-param name="as" select="'dcterms:license'"/><xsl:with-param name="reference" select="concat(@rdf:resource, substring(., 1, string-length(.) * not(@rdf:resource)))"/></xsl:call-template></xsl:template>

<!-- Dates -->
<xsl:template match="rss:pubdate | rss:date | rss:published | dc:date | atom:published | atom:issued" mode="property"><xsl:call-template name="date"><xsl:with-param name="as" select="'dcterms:date'"/></xsl:call-template></xsl:template>
<xsl:template match="rss:lastbuilddate | rss:modified | rss:updated | rss:lastmod | atom:updated | atom:modified | rss:item/@lastmod | rss:channel/@lastmod" mode="property"><xsl:call-template name="date"><xsl:with-param name="as" select="'dcterms:modified'"/></xsl:call-template></xsl:template>
<xsl:template match="atom:created | rss:created" mode="property"><xsl:call-template name="date"><xsl:with-param name="as" select="'dcterms:created'"/></xsl:call-template></xsl:template>
<xsl:template match="rss:expirationdate" mode="property"><xsl:call-template name="date"><xsl:with-param name="as" select="'dcterms:valid'"/></xsl:call-template></xsl:template>
<xsl:template match="dcterms:created | dcterms:issued | dcterms:modified | dcterms:available | dcterms:dateAccepted | dcterms:dateCopyrighted | dcterms:dateSubmitted" mode="property"><xsl:call-template name="date"><xsl:with-param name="as" select="concat('dcterms:', local-name())"/></xsl:call-template></xsl:template>

<!-- People -->
<xsl:template match="rss:author | rss:creator | rss:managingeditor | dc:creator | dc:author" mode="property"><xsl:call-template name="person"><xsl:with-param name="as" select="'dc:creator'"/><xsl:with-param name="agent" select="'foaf:maker'"/></xsl:call-template></xsl:template>
<xsl:template match="itunes:author" mode="property"><xsl:call-template name="person"><xsl:with-param name="as" select="'dc:creator'"/><xsl:with-param name="agent" select="'foaf:maker'"/></xsl:call-template><xsl:if test="not($is-rdf)"><xsl:call-template name="extension"/></xsl:if></xsl:template>
<xsl:template match="rss:contributor | dc:contributor" mode="property"><xsl:call-template name="person"><xsl:with-param name="as" select="'dc:contributor'"/><xsl:with-param name="agent" select="'dcterms:contributor'"/></xsl:call-template></xsl:template>
<xsl:template match="rss:publisher | rss:webmaster | dc:publisher" mode="property"><xsl:call-template name="person"><xsl:with-param name="as" select="'dc:publisher'"/><xsl:with-param name="agent" select="'dcterms:publisher'"/></xsl:call-template></xsl:template>
<xsl:template match="atom:author | rss:author[*]" mode="property" priority="1"><xsl:call-template name="person-of-parts"><xsl:with-param name="as" select="'dc:creator'"/><xsl:with-param name="agent" select="'foaf:maker'"/></xsl:call-template></xsl:template>
<xsl:template match="atom:contributor | rss:contributor[*]" mode="property" priority="1"><xsl:call-template name="person-of-parts"><xsl:with-param name="as" select="'dc:contributor'"/><xsl:with-param name="agent" select="'dcterms:contributor'"/></xsl:call-template></xsl:template>
<xsl:template match="itunes:owner" mode="property"><xsl:call-template name="person-of-parts"><xsl:with-param name="as" select="'dc:publisher'"/><xsl:with-param name="agent" select="'dcterms:publisher'"/></xsl:call-template></xsl:template>

<!-- Subjects -->
<xsl:template match="rss:category" mode="property"><xsl:call-template name="category"><xsl:with-param name="term" select="."/><xsl:with-param name="scheme" select="@domain"/></xsl:call-template></xsl:template>
<xsl:template match="rss:category[@text] | rss:keyword" mode="property"><xsl:call-template name="category"><xsl:with-param name="term" select="concat(@text, .)"/></xsl:call-template></xsl:template>
<xsl:template match="dc:subject" mode="property"><xsl:call-template name="category"><xsl:with-param name="term" select="."/></xsl:call-template></xsl:template>
<xsl:template match="dc:subject[rdf:*] | dc:subject[@rdf:resource]" mode="property" priority="1"></xsl:template>
<xsl:template match="atom:category" mode="property"><xsl:choose><xsl:when test="@term"><xsl:call-template name="category"><xsl:with-param name="term" select="@term"/><xsl:with-param name="scheme" select="@scheme"/><xsl:with-param name="label" select="@label"/></xsl:call-template></xsl:when><xsl:otherwise><xsl:call-template name="category"><xsl:with-param name="term" select="."/><xsl:with-param name="scheme" select="@scheme"/><xsl:with-param name="label" select="@label"/></xsl:call-template></xsl:otherwise></xsl:choose></xsl:template>
<xsl:template match="media:category" mode="property"><xsl:call-template name="category"><xsl:with-param name="term" select="."/><xsl:with-param name="scheme" select="@scheme"/><xsl:with-param name="label" select="@label"/></xsl:call-template></xsl:template>
<xsl:template match="itunes:category" mode="property">
  <xsl:call-template name="category"><xsl:with-param name="term" select="@text"/><xsl:with-param name="scheme" select="'http://www.itunes.com/'"/></xsl:call-template>
  <xsl:apply-templates select="itunes:category" mode="property"/>
</xsl:template>
<xsl:template match="itunes:keywords | media:keywords" mode="property">
  <xsl:choose><xsl:when test="contains(., ',')"><xsl:call-template name="words"><xsl:with-param name="separator" select="','"/></xsl:call-template></xsl:when><xsl:otherwise><xsl:call-template name="words"><xsl:with-param name="separator" select="' '"/></xsl:call-template></xsl:otherwise></xsl:choose>
</xsl:template>

<!-- Images -->
<xsl:template match="atom:icon | atom:logo | rss:logo | rss:icon" mode="property"><xsl:choose><xsl:when test="@href"><xsl:call-template name="iri"><xsl:with-param name="as" select="'foaf:depiction'"/><xsl:with-param name="reference" select="string(@href)"/></xsl:call-template></xsl:when><xsl:otherwise><xsl:call-template name="iri"><xsl:with-param name="as" select="'foaf:depiction'"/></xsl:call-template></xsl:otherwise></xsl:choose></xsl:template>
<xsl:template match="itunes:image | itunes:link[@rel = 'image']" mode="property"><xsl:call-template name="iri"><xsl:with-param name="as" select="'foaf:depiction'"/><xsl:with-param name="reference" select="string((@href | @url | text()[normalize-space(.)])[1])"/></xsl:call-template></xsl:template>
<xsl:template match="media:thumbnail[@url]" mode="property"><xsl:call-template name="iri"><xsl:with-param name="as" select="'foaf:depiction'"/><xsl:with-param name="reference" select="string(@url)"/></xsl:call-template><xsl:if test="not($is-rdf)"><xsl:call-template name="extension"/></xsl:if></xsl:template>
<xsl:template match="rss:image" mode="property">
  <xsl:variable name="image"><xsl:for-each select="(rss:url | rss:link[not(../rss:url)] | @href)[1]"><xsl:value-of select="q:resolve(string(.))"/></xsl:for-each></xsl:variable>
  <foaf:depiction><rss:image>
    <xsl:if test="string($image)"><xsl:attribute name="rdf:about"><xsl:value-of select="$image"/></xsl:attribute></xsl:if>
    <xsl:apply-templates select="rss:title | rss:link[../rss:url] | rss:description" mode="property"/>
    <xsl:for-each select="rss:width | rss:height"><xsl:call-template name="string"><xsl:with-param name="as" select="concat('rss091:', local-name())"/></xsl:call-template></xsl:for-each>
  </rss:image></foaf:depiction>
</xsl:template>
<xsl:template match="rss:textinput" mode="property">
  <rss:textinput><rss:textinput>
    <xsl:apply-templates select="rss:title | rss:link | rss:description" mode="property"/>
    <xsl:for-each select="rss:name"><xsl:call-template name="string"><xsl:with-param name="as" select="'rss:name'"/></xsl:call-template></xsl:for-each>
  </rss:textinput></rss:textinput>
</xsl:template>

<!-- The rest of the channel -->
<xsl:template match="rss:language | dc:language" mode="property"><xsl:call-template name="string"><xsl:with-param name="as" select="'dcterms:language'"/></xsl:call-template></xsl:template>
<xsl:template match="rss:rating" mode="property"><xsl:call-template name="string"><xsl:with-param name="as" select="'rss091:rating'"/></xsl:call-template></xsl:template>
<xsl:template match="rss:ttl" mode="property"><xsl:call-template name="string"><xsl:with-param name="as" select="'rss2:ttl'"/></xsl:call-template></xsl:template>
<xsl:template match="rss:skiphours" mode="property"><xsl:for-each select="rss:hour"><xsl:call-template name="string"><xsl:with-param name="as" select="'rss091:hour'"/></xsl:call-template></xsl:for-each></xsl:template>
<xsl:template match="rss:skipdays" mode="property"><xsl:for-each select="rss:day"><xsl:call-template name="string"><xsl:with-param name="as" select="'rss091:day'"/></xsl:call-template></xsl:for-each></xsl:template>
<xsl:template match="rss:cloud" mode="property">
  <rss2:cloud><rdf:Description>
    <xsl:for-each select="@*[namespace-uri() = ''][normalize-space(.)]"><xsl:element name="rss2:{local-name()}"><xsl:value-of select="."/></xsl:element></xsl:for-each>
  </rdf:Description></rss2:cloud>
</xsl:template>
<xsl:template match="rss:generator | atom:generator" mode="property">
  <xsl:variable name="agent"><xsl:for-each select="(@uri | @url)[1]"><xsl:value-of select="q:resolve(string(.))"/></xsl:for-each></xsl:variable>
  <admin:generatorAgent><rdf:Description>
    <xsl:if test="string($agent)"><xsl:attribute name="rdf:about"><xsl:value-of select="$agent"/></xsl:attribute></xsl:if>
    <xsl:call-template name="string"><xsl:with-param name="as" select="'rdfs:label'"/></xsl:call-template>
    <xsl:if test="normalize-space(@version)"><dcterms:hasVersion><xsl:value-of select="normalize-space(@version)"/></dcterms:hasVersion></xsl:if>
  </rdf:Description></admin:generatorAgent>
</xsl:template>

<!-- Where an item is from -->
<xsl:template match="rss:source" mode="property">
  <xsl:variable name="target" select="q:resolve(string(@url))"/>
  <xsl:if test="$target or normalize-space(.)">
    <dcterms:source><rdf:Description>
      <xsl:if test="$target"><xsl:attribute name="rdf:about"><xsl:value-of select="$target"/></xsl:attribute></xsl:if>
      <xsl:call-template name="text"><xsl:with-param name="as" select="'rss:title'"/></xsl:call-template>
    </rdf:Description></dcterms:source>
  </xsl:if>
</xsl:template>
<xsl:template match="atom:source" mode="property">
  <dcterms:source><rss:channel>
    <xsl:for-each select="(atom:link[@rel = 'self']/@href | atom:id[contains(., ':')][not(../atom:link[@rel = 'self'])])[1]">
      <xsl:if test="q:resolve(string(.))"><xsl:attribute name="rdf:about"><xsl:value-of select="q:resolve(string(.))"/></xsl:attribute></xsl:if>
    </xsl:for-each>
    <xsl:apply-templates select="*" mode="property"/>
  </rss:channel></dcterms:source>
</xsl:template>

<!-- Places: as they are, and as a point -->
<xsl:template name="point">
  <xsl:param name="place" select="translate(normalize-space(.), ',', ' ')"/>
  <xsl:variable name="rest" select="normalize-space(substring-after(normalize-space($place), ' '))"/>
  <xsl:if test="$rest and not(contains($rest, ' ')) and not($is-rdf)">
    <geo:lat><xsl:value-of select="substring-before(normalize-space($place), ' ')"/></geo:lat>
    <geo:long><xsl:value-of select="$rest"/></geo:long>
  </xsl:if>
</xsl:template>
<xsl:template match="georss:point" mode="property"><xsl:call-template name="point"/><xsl:if test="not($is-rdf)"><xsl:call-template name="extension"/></xsl:if></xsl:template>
<xsl:template match="georss:where" mode="property"><xsl:for-each select="gml:Point/gml:pos | gml:point/gml:pos"><xsl:call-template name="point"/></xsl:for-each><xsl:if test="not($is-rdf)"><xsl:call-template name="extension"/></xsl:if></xsl:template>
<xsl:template match="gml:Point" mode="property"><xsl:for-each select="gml:pos"><xsl:call-template name="point"/></xsl:for-each><xsl:if test="not($is-rdf)"><xsl:call-template name="extension"/></xsl:if></xsl:template>
<xsl:template match="itunes:explicit | itunes:block | itunes:complete | itunes:isClosedCaptioned" mode="property"><xsl:if test="not($is-rdf)"><xsl:call-template name="extension"/></xsl:if></xsl:template>

<!-- ==== extensions that have no line above: an element is a property of its own name ====
     text is a string, or an IRI when it is one; an element with an address is what is there,
     with attributes and elements inside as its properties; others are blank nodes. -->
<xsl:template name="extension">
  <xsl:param name="depth" select="0"/>
  <xsl:variable name="space" select="namespace-uri()"/>
  <xsl:variable name="address" select="(@url | @href | @src | @uri | @resource | @rdf:resource)[normalize-space(.)][1]"/>
  <xsl:variable name="named"><xsl:if test="not(normalize-space(text()))"><xsl:for-each select="$address"><xsl:value-of select="q:resolve(string(.))"/></xsl:for-each></xsl:if></xsl:variable>
  <xsl:variable name="about" select="@*[namespace-uri() = ''][normalize-space(.)][not(local-name() = 'type' and normalize-space(..))][not($named and generate-id() = generate-id($address))]"/>
  <xsl:if test="contains($space, ':') and $depth &lt; 9 and $space != 'http://www.w3.org/1999/02/22-rdf-syntax-ns#' and q:local(concat('x:/', local-name())) = local-name() and (normalize-space(.) or @* or *)">
    <xsl:variable name="separated"><xsl:call-template name="separated"><xsl:with-param name="space" select="$space"/></xsl:call-template></xsl:variable>
    <xsl:element name="x:{local-name()}" namespace="{$separated}">
      <xsl:choose>
        <xsl:when test="* or $about or string($named)">
          <rdf:Description>
            <xsl:if test="string($named)"><xsl:attribute name="rdf:about"><xsl:value-of select="$named"/></xsl:attribute></xsl:if>
            <xsl:if test="normalize-space(text())"><rdf:value><xsl:value-of select="normalize-space(.)"/></rdf:value></xsl:if>
            <xsl:for-each select="$about">
              <xsl:if test="q:local(concat('x:/', local-name())) = local-name()">
                <xsl:variable name="iri"><xsl:if test="starts-with(., 'http://') or starts-with(., 'https://') or contains(' url href src uri img image resource ', concat(' ', local-name(), ' '))"><xsl:value-of select="q:resolve(string(.))"/></xsl:if></xsl:variable>
                <xsl:element name="x:{local-name()}" namespace="{$separated}">
                  <xsl:choose>
                    <xsl:when test="string($iri)"><xsl:attribute name="rdf:resource"><xsl:value-of select="$iri"/></xsl:attribute></xsl:when>
                    <xsl:otherwise><xsl:value-of select="normalize-space(.)"/></xsl:otherwise>
                  </xsl:choose>
                </xsl:element>
              </xsl:if>
            </xsl:for-each>
            <xsl:for-each select="*"><xsl:call-template name="extension"><xsl:with-param name="depth" select="$depth + 1"/></xsl:call-template></xsl:for-each>
          </rdf:Description>
        </xsl:when>
        <xsl:when test="(starts-with(normalize-space(.), 'http://') or starts-with(normalize-space(.), 'https://')) and not(contains(normalize-space(.), ' ')) and q:resolve(string(.))"><xsl:attribute name="rdf:resource"><xsl:value-of select="q:resolve(string(.))"/></xsl:attribute></xsl:when>
        <xsl:otherwise><xsl:value-of select="q:text(.)"/></xsl:otherwise>
      </xsl:choose>
    </xsl:element>
  </xsl:if>
</xsl:template>

<!-- A namespace that ends in a name gets a # before the term. -->
<xsl:template name="separated">
  <xsl:param name="space"/>
  <xsl:value-of select="$space"/>
  <xsl:if test="not(contains('/#:=?', substring($space, string-length($space))))">#</xsl:if>
</xsl:template>
</xsl:stylesheet>
