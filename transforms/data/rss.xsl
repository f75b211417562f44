<?xml version="1.0" encoding="UTF-8"?>
<!-- RSS 0.91, 0.92, 0.93, 0.94 and 2.0 to the vocabulary of RSS 1.0, Dublin Core and others.
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
  xmlns:atom="http://www.w3.org/2005/Atom"
  exclude-result-prefixes="q atom">
<xsl:output method="xml" encoding="UTF-8"/>

<xsl:template match="/">
  <rdf:RDF>
    <rss:channel rdf:about="{q:uri()}">
      <xsl:apply-templates select="*[local-name()='rss']/*[local-name()='channel'][1]" mode="channel"/>
    </rss:channel>
    <xsl:apply-templates mode="item"
      select="*[local-name()='rss']/*[local-name()='channel'][1]//*[local-name()='item'] | *[local-name()='rss']/*[local-name()='item']"/>
  </rdf:RDF>
</xsl:template>

<xsl:template match="*" mode="channel">
  <xsl:apply-templates select="*[local-name() != 'item']" mode="property"/>
  <xsl:for-each select=".//*[local-name()='item'] | ../*[local-name()='item']">
    <xsl:variable name="about"><xsl:call-template name="about"/></xsl:variable>
    <xsl:if test="string($about)"><dcterms:hasPart rdf:resource="{$about}"/></xsl:if>
  </xsl:for-each>
  <xsl:if test="*[local-name()='image']/*[local-name()='url']">
    <xsl:variable name="image" select="q:resolve(string(*[local-name()='image']/*[local-name()='url']))"/>
    <xsl:if test="$image"><foaf:depiction rdf:resource="{$image}"/></xsl:if>
  </xsl:if>
</xsl:template>

<!-- The IRI of an item: its link, else its permanent guid. -->
<xsl:template name="about">
  <xsl:variable name="link">
    <xsl:for-each select="*[local-name()='link'][not(namespace-uri()='http://www.w3.org/2005/Atom')][string(.)][1]">
      <xsl:value-of select="q:resolve(string(.))"/>
    </xsl:for-each>
  </xsl:variable>
  <xsl:choose>
    <xsl:when test="string($link)"><xsl:value-of select="$link"/></xsl:when>
    <xsl:otherwise>
      <xsl:for-each select="*[local-name()='guid'][not(@isPermaLink='false')][contains(., ':')][1]">
        <xsl:value-of select="q:resolve(string(.))"/>
      </xsl:for-each>
    </xsl:otherwise>
  </xsl:choose>
</xsl:template>

<xsl:template match="*" mode="item">
  <xsl:variable name="about"><xsl:call-template name="about"/></xsl:variable>
  <rss:item>
    <xsl:if test="string($about)"><xsl:attribute name="rdf:about"><xsl:value-of select="$about"/></xsl:attribute></xsl:if>
    <dcterms:isPartOf rdf:resource="{q:uri()}"/>
    <xsl:apply-templates select="*" mode="property"/>
  </rss:item>
</xsl:template>

<xsl:template name="language">
  <xsl:variable name="language" select="normalize-space(ancestor-or-self::*[@xml:lang][1]/@xml:lang)"/>
  <xsl:variable name="channel" select="normalize-space(ancestor-or-self::*[local-name()='channel']/*[local-name()='language'])"/>
  <xsl:choose>
    <xsl:when test="$language"><xsl:attribute name="xml:lang"><xsl:value-of select="$language"/></xsl:attribute></xsl:when>
    <xsl:when test="$channel and not(translate($channel, 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-', '')) and string-length(substring-before(concat($channel, '-'), '-')) &gt; 1 and string-length(substring-before(concat($channel, '-'), '-')) &lt; 9">
      <xsl:attribute name="xml:lang"><xsl:value-of select="$channel"/></xsl:attribute>
    </xsl:when>
  </xsl:choose>
</xsl:template>

<xsl:template match="*" mode="property"/>

<xsl:template match="*[local-name()='title']" mode="property">
  <xsl:variable name="text" select="q:text(string(.))"/>
  <xsl:if test="$text"><rss:title><xsl:call-template name="language"/><xsl:value-of select="$text"/></rss:title></xsl:if>
</xsl:template>

<xsl:template match="*[local-name()='link']" mode="property">
  <xsl:variable name="target" select="q:resolve(string(.))"/>
  <xsl:if test="$target"><rss:link rdf:resource="{$target}"/></xsl:if>
</xsl:template>

<xsl:template match="atom:link" mode="property">
  <xsl:variable name="target" select="q:resolve(string(@href))"/>
  <xsl:if test="$target"><sioc:links_to rdf:resource="{$target}"/></xsl:if>
</xsl:template>

<xsl:template match="*[local-name()='description' or local-name()='summary']" mode="property">
  <xsl:variable name="text" select="q:text(string(.))"/>
  <xsl:if test="$text"><rss:description><xsl:call-template name="language"/><xsl:value-of select="$text"/></rss:description></xsl:if>
</xsl:template>

<xsl:template match="content:encoded" mode="property">
  <xsl:if test="normalize-space(.)"><content:encoded><xsl:value-of select="normalize-space(.)"/></content:encoded></xsl:if>
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

<xsl:template match="*[local-name()='pubDate' or local-name()='date']" mode="property">
  <xsl:call-template name="date"><xsl:with-param name="name" select="'date'"/></xsl:call-template>
</xsl:template>
<xsl:template match="*[local-name()='lastBuildDate' or local-name()='modified' or local-name()='updated']" mode="property">
  <xsl:call-template name="date"><xsl:with-param name="name" select="'modified'"/></xsl:call-template>
</xsl:template>

<xsl:template match="*[local-name()='author' or local-name()='creator' or local-name()='managingEditor']" mode="property">
  <xsl:variable name="text" select="q:text(string(.))"/>
  <xsl:variable name="mail" select="q:mail(string(.))"/>
  <xsl:if test="$text"><dc:creator><xsl:value-of select="$text"/></dc:creator></xsl:if>
  <xsl:if test="$mail"><foaf:mbox rdf:resource="{$mail}"/></xsl:if>
</xsl:template>

<xsl:template match="*[local-name()='webMaster']" mode="property">
  <xsl:variable name="mail" select="q:mail(string(.))"/>
  <xsl:if test="$mail"><foaf:mbox rdf:resource="{$mail}"/></xsl:if>
</xsl:template>

<xsl:template match="*[local-name()='category' or local-name()='subject']" mode="property">
  <xsl:variable name="text" select="normalize-space(.)"/>
  <xsl:if test="$text"><dc:subject><xsl:value-of select="$text"/></dc:subject></xsl:if>
</xsl:template>

<xsl:template match="*[local-name()='copyright' or local-name()='rights']" mode="property">
  <xsl:variable name="text" select="q:text(string(.))"/>
  <xsl:if test="$text"><dc:rights><xsl:value-of select="$text"/></dc:rights></xsl:if>
</xsl:template>

<xsl:template match="*[local-name()='language']" mode="property">
  <xsl:variable name="text" select="normalize-space(.)"/>
  <xsl:if test="$text"><dcterms:language><xsl:value-of select="$text"/></dcterms:language></xsl:if>
</xsl:template>

<xsl:template match="*[local-name()='publisher']" mode="property">
  <xsl:variable name="text" select="q:text(string(.))"/>
  <xsl:if test="$text"><dc:publisher><xsl:value-of select="$text"/></dc:publisher></xsl:if>
</xsl:template>

<xsl:template match="*[local-name()='guid']" mode="property">
  <xsl:variable name="text" select="normalize-space(.)"/>
  <xsl:if test="$text"><dcterms:identifier><xsl:value-of select="$text"/></dcterms:identifier></xsl:if>
</xsl:template>

<xsl:template match="*[local-name()='comments']" mode="property">
  <xsl:variable name="target" select="q:resolve(string(.))"/>
  <xsl:if test="$target"><sioc:links_to rdf:resource="{$target}"/></xsl:if>
</xsl:template>

<xsl:template match="*[local-name()='source'][@url]" mode="property">
  <xsl:variable name="target" select="q:resolve(string(@url))"/>
  <xsl:if test="$target"><dcterms:source rdf:resource="{$target}"/></xsl:if>
</xsl:template>

<xsl:template match="*[local-name()='enclosure'][@url]" mode="property">
  <xsl:variable name="target" select="q:resolve(string(@url))"/>
  <xsl:if test="$target"><enc:enclosure rdf:resource="{$target}"/></xsl:if>
</xsl:template>
</xsl:stylesheet>
