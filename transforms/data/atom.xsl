<?xml version="1.0" encoding="UTF-8"?>
<!-- Atom 1.0 (RFC 4287) and 0.3 to the vocabulary of RSS 1.0, Dublin Core and FOAF.
     docs/TRANSFORMS.md lists what becomes what. -->
<xsl:stylesheet version="1.0"
  xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
  xmlns:q="https://quadrille.example/transform#"
  xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
  xmlns:rss="http://purl.org/rss/1.0/"
  xmlns:dc="http://purl.org/dc/elements/1.1/"
  xmlns:dcterms="http://purl.org/dc/terms/"
  xmlns:content="http://purl.org/rss/1.0/modules/content/"
  xmlns:enc="http://purl.oclc.org/net/rss_2.0/enc#"
  xmlns:foaf="http://xmlns.com/foaf/0.1/"
  xmlns:sioc="http://rdfs.org/sioc/ns#"
  exclude-result-prefixes="q">
<xsl:output method="xml" encoding="UTF-8"/>

<xsl:template match="/">
  <rdf:RDF>
    <xsl:if test="*[local-name()='feed']">
      <rss:channel rdf:about="{q:uri()}">
        <xsl:apply-templates select="*/*" mode="property"/>
        <xsl:for-each select="*/*[local-name()='entry']">
          <xsl:variable name="about"><xsl:call-template name="about"/></xsl:variable>
          <xsl:if test="string($about)"><dcterms:hasPart rdf:resource="{$about}"/></xsl:if>
        </xsl:for-each>
      </rss:channel>
    </xsl:if>
    <xsl:apply-templates select="//*[local-name()='entry']" mode="entry"/>
  </rdf:RDF>
</xsl:template>

<!-- The IRI of an entry: its alternate link, else its id when that is an IRI. -->
<xsl:template name="about">
  <xsl:variable name="link">
    <xsl:for-each select="*[local-name()='link'][not(@rel) or @rel='alternate'][@href][1]">
      <xsl:value-of select="q:resolve(string(@href))"/>
    </xsl:for-each>
  </xsl:variable>
  <xsl:choose>
    <xsl:when test="string($link)"><xsl:value-of select="$link"/></xsl:when>
    <xsl:otherwise>
      <xsl:for-each select="*[local-name()='id'][contains(., ':')][1]"><xsl:value-of select="q:resolve(string(.))"/></xsl:for-each>
    </xsl:otherwise>
  </xsl:choose>
</xsl:template>

<xsl:template match="*" mode="entry">
  <xsl:variable name="about"><xsl:call-template name="about"/></xsl:variable>
  <rss:item>
    <xsl:if test="string($about)"><xsl:attribute name="rdf:about"><xsl:value-of select="$about"/></xsl:attribute></xsl:if>
    <dcterms:isPartOf rdf:resource="{q:uri()}"/>
    <xsl:apply-templates select="*" mode="property"/>
  </rss:item>
</xsl:template>

<xsl:template name="language">
  <xsl:variable name="language" select="normalize-space(ancestor-or-self::*[@xml:lang][1]/@xml:lang)"/>
  <xsl:if test="$language"><xsl:attribute name="xml:lang"><xsl:value-of select="$language"/></xsl:attribute></xsl:if>
</xsl:template>

<!-- A text construct as plain text. -->
<xsl:template name="text">
  <xsl:choose>
    <xsl:when test="@type='html' or @type='text/html' or @mode='escaped'"><xsl:value-of select="q:text(string(.))"/></xsl:when>
    <xsl:otherwise><xsl:value-of select="normalize-space(.)"/></xsl:otherwise>
  </xsl:choose>
</xsl:template>

<xsl:template match="*" mode="property"/>

<xsl:template match="*[local-name()='title']" mode="property">
  <xsl:variable name="text"><xsl:call-template name="text"/></xsl:variable>
  <xsl:if test="string($text)"><rss:title><xsl:call-template name="language"/><xsl:value-of select="$text"/></rss:title></xsl:if>
</xsl:template>

<xsl:template match="*[local-name()='subtitle' or local-name()='tagline' or local-name()='summary']" mode="property">
  <xsl:variable name="text"><xsl:call-template name="text"/></xsl:variable>
  <xsl:if test="string($text)"><rss:description><xsl:call-template name="language"/><xsl:value-of select="$text"/></rss:description></xsl:if>
</xsl:template>

<xsl:template match="*[local-name()='content'][@src]" mode="property">
  <xsl:variable name="target" select="q:resolve(string(@src))"/>
  <xsl:if test="$target"><sioc:links_to rdf:resource="{$target}"/></xsl:if>
</xsl:template>

<xsl:template match="*[local-name()='content'][not(@src)]" mode="property">
  <xsl:variable name="text"><xsl:call-template name="text"/></xsl:variable>
  <xsl:if test="string($text)"><content:encoded><xsl:call-template name="language"/><xsl:value-of select="$text"/></content:encoded></xsl:if>
</xsl:template>

<xsl:template match="*[local-name()='link'][@href]" mode="property">
  <xsl:variable name="target" select="q:resolve(string(@href))"/>
  <xsl:choose>
    <xsl:when test="not($target)"/>
    <xsl:when test="@rel='enclosure'"><enc:enclosure rdf:resource="{$target}"/></xsl:when>
    <xsl:when test="not(@rel) or @rel='alternate'"><rss:link rdf:resource="{$target}"/></xsl:when>
    <xsl:when test="@rel='license'"><dcterms:license rdf:resource="{$target}"/></xsl:when>
    <xsl:otherwise><sioc:links_to rdf:resource="{$target}"/></xsl:otherwise>
  </xsl:choose>
</xsl:template>

<xsl:template name="date">
  <xsl:param name="name"/>
  <xsl:variable name="date" select="q:date(string(.))"/>
  <xsl:if test="$date">
    <xsl:element name="dcterms:{$name}">
      <xsl:attribute name="rdf:datatype">
        <xsl:text>http://www.w3.org/2001/XMLSchema#date</xsl:text>
        <xsl:if test="contains($date, 'T')">Time</xsl:if>
      </xsl:attribute>
      <xsl:value-of select="$date"/>
    </xsl:element>
  </xsl:if>
</xsl:template>

<xsl:template match="*[local-name()='updated' or local-name()='modified']" mode="property">
  <xsl:call-template name="date"><xsl:with-param name="name" select="'modified'"/></xsl:call-template>
</xsl:template>
<xsl:template match="*[local-name()='published' or local-name()='issued' or local-name()='created']" mode="property">
  <xsl:call-template name="date"><xsl:with-param name="name" select="'date'"/></xsl:call-template>
</xsl:template>

<xsl:template match="*[local-name()='author' or local-name()='contributor']" mode="property">
  <xsl:variable name="name" select="normalize-space(*[local-name()='name'])"/>
  <xsl:variable name="mail" select="q:mail(string(*[local-name()='email']))"/>
  <xsl:variable name="page">
    <xsl:for-each select="*[local-name()='uri' or local-name()='url'][1]"><xsl:value-of select="q:resolve(string(.))"/></xsl:for-each>
  </xsl:variable>
  <xsl:if test="$name">
    <xsl:choose>
      <xsl:when test="local-name()='author'"><dc:creator><xsl:value-of select="$name"/></dc:creator></xsl:when>
      <xsl:otherwise><dc:contributor><xsl:value-of select="$name"/></dc:contributor></xsl:otherwise>
    </xsl:choose>
  </xsl:if>
  <xsl:if test="local-name()='author' and ($mail or string($page))">
    <foaf:maker>
      <foaf:Agent>
        <xsl:if test="$name"><foaf:name><xsl:value-of select="$name"/></foaf:name></xsl:if>
        <xsl:if test="$mail"><foaf:mbox rdf:resource="{$mail}"/></xsl:if>
        <xsl:if test="string($page)"><foaf:homepage rdf:resource="{$page}"/></xsl:if>
      </foaf:Agent>
    </foaf:maker>
  </xsl:if>
</xsl:template>

<xsl:template match="*[local-name()='category'][@term]" mode="property">
  <dc:subject><xsl:value-of select="normalize-space(@term)"/></dc:subject>
</xsl:template>

<xsl:template match="*[local-name()='rights' or local-name()='copyright']" mode="property">
  <xsl:variable name="text"><xsl:call-template name="text"/></xsl:variable>
  <xsl:if test="string($text)"><dc:rights><xsl:value-of select="$text"/></dc:rights></xsl:if>
</xsl:template>

<xsl:template match="*[local-name()='id']" mode="property">
  <xsl:variable name="text" select="normalize-space(.)"/>
  <xsl:if test="$text"><dcterms:identifier><xsl:value-of select="$text"/></dcterms:identifier></xsl:if>
</xsl:template>

<xsl:template match="*[local-name()='icon' or local-name()='logo']" mode="property">
  <xsl:variable name="target" select="q:resolve(string(.))"/>
  <xsl:if test="$target"><foaf:depiction rdf:resource="{$target}"/></xsl:if>
</xsl:template>
</xsl:stylesheet>
