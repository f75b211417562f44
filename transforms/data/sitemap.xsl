<?xml version="1.0" encoding="UTF-8"?>
<!-- Sitemaps (https://www.sitemaps.org/protocol.html) with the extensions for images, videos, news and
     translations. docs/XML.md has the table. -->
<xsl:stylesheet version="1.0"
  xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
  xmlns:q="https://quadrille.example/transform#"
  xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
  xmlns:s="http://www.sitemaps.org/schemas/sitemap/0.9"
  xmlns:sitemap="http://www.sitemaps.org/schemas/sitemap/0.9#"
  xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"
  xmlns:video="http://www.google.com/schemas/sitemap-video/1.1"
  xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"
  xmlns:xhtml="http://www.w3.org/1999/xhtml"
  xmlns:xhv="http://www.w3.org/1999/xhtml/vocab#"
  xmlns:dc="http://purl.org/dc/elements/1.1/"
  xmlns:dcterms="http://purl.org/dc/terms/"
  xmlns:foaf="http://xmlns.com/foaf/0.1/"
  exclude-result-prefixes="q xsl s image video news xhtml">
<xsl:output method="xml" encoding="UTF-8"/>
<q:root name="urlset" as="http://www.sitemaps.org/schemas/sitemap/0.9"/>
<q:root name="sitemapindex" as="http://www.sitemaps.org/schemas/sitemap/0.9"/>
<q:namespace iri="" as="http://www.sitemaps.org/schemas/sitemap/0.9"/>
<q:namespace iri="http://www.google.com/schemas/sitemap/0.84" as="http://www.sitemaps.org/schemas/sitemap/0.9"/>
<q:namespace iri="https://www.sitemaps.org/schemas/sitemap/0.9" as="http://www.sitemaps.org/schemas/sitemap/0.9"/>
<q:namespace iri="https://www.google.com/schemas/sitemap-image/1.1" as="http://www.google.com/schemas/sitemap-image/1.1" prefix="image"/>
<q:namespace iri="http://www.google.com/schemas/sitemap-video/1.0" as="http://www.google.com/schemas/sitemap-video/1.1" prefix="video"/>
<q:namespace iri="https://www.google.com/schemas/sitemap-news/0.9" as="http://www.google.com/schemas/sitemap-news/0.9" prefix="news"/>

<xsl:template match="/">
  <rdf:RDF>
    <rdf:Description rdf:about="{q:uri()}">
      <xsl:if test="/s:urlset"><rdf:type rdf:resource="http://www.sitemaps.org/schemas/sitemap/0.9#urlset"/></xsl:if>
      <xsl:if test="/s:sitemapindex"><rdf:type rdf:resource="http://www.sitemaps.org/schemas/sitemap/0.9#sitemapindex"/></xsl:if>
      <xsl:for-each select="/*/s:url | /*/s:sitemap">
        <xsl:variable name="location" select="q:resolve(concat(s:loc, substring(text(), 1, string-length(text()) * not(s:loc))))"/>
        <xsl:if test="$location">
          <xsl:element name="sitemap:{local-name()}">
            <rdf:Description rdf:about="{$location}"><xsl:apply-templates select="*"/></rdf:Description>
          </xsl:element>
        </xsl:if>
      </xsl:for-each>
    </rdf:Description>
  </rdf:RDF>
</xsl:template>

<xsl:template match="*"/>
<xsl:template name="date">
  <xsl:param name="as"/>
  <xsl:variable name="date" select="q:date(string(.))"/>
  <xsl:if test="$date">
    <xsl:element name="{$as}">
      <xsl:attribute name="rdf:datatype">http://www.w3.org/2001/XMLSchema#date<xsl:if test="contains($date, 'T')">Time</xsl:if></xsl:attribute>
      <xsl:value-of select="$date"/>
    </xsl:element>
  </xsl:if>
</xsl:template>
<xsl:template match="s:lastmod"><xsl:call-template name="date"><xsl:with-param name="as" select="'dcterms:modified'"/></xsl:call-template></xsl:template>
<xsl:template match="s:changefreq"><xsl:if test="normalize-space(.)"><sitemap:changefreq><xsl:value-of select="normalize-space(.)"/></sitemap:changefreq></xsl:if></xsl:template>
<xsl:template match="s:priority"><xsl:if test="number(.) = number(.)"><sitemap:priority rdf:datatype="http://www.w3.org/2001/XMLSchema#decimal"><xsl:value-of select="normalize-space(.)"/></sitemap:priority></xsl:if></xsl:template>

<xsl:template match="image:image">
  <xsl:if test="q:resolve(string(image:loc))">
    <foaf:depiction><foaf:Image rdf:about="{q:resolve(string(image:loc))}"><xsl:apply-templates select="*"/></foaf:Image></foaf:depiction>
  </xsl:if>
</xsl:template>
<xsl:template match="image:title | video:title | news:title"><dcterms:title><xsl:value-of select="q:text(string(.))"/></dcterms:title></xsl:template>
<xsl:template match="image:caption | video:description"><dcterms:description><xsl:value-of select="q:text(string(.))"/></dcterms:description></xsl:template>
<xsl:template match="image:license"><xsl:if test="q:resolve(string(.))"><dcterms:license rdf:resource="{q:resolve(string(.))}"/></xsl:if></xsl:template>
<xsl:template match="video:thumbnail_loc"><xsl:if test="q:resolve(string(.))"><foaf:depiction rdf:resource="{q:resolve(string(.))}"/></xsl:if></xsl:template>
<xsl:template match="video:publication_date | news:publication_date"><xsl:call-template name="date"><xsl:with-param name="as" select="'dcterms:date'"/></xsl:call-template></xsl:template>
<xsl:template match="video:tag | video:category | news:keywords | news:genres"><xsl:if test="normalize-space(.)"><dc:subject><xsl:value-of select="normalize-space(.)"/></dc:subject></xsl:if></xsl:template>
<xsl:template match="news:publication">
  <dc:publisher><xsl:value-of select="normalize-space(news:name)"/></dc:publisher>
  <xsl:if test="normalize-space(news:language)"><dcterms:language><xsl:value-of select="normalize-space(news:language)"/></dcterms:language></xsl:if>
</xsl:template>
<xsl:template match="news:news"><xsl:apply-templates select="*"/></xsl:template>

<!-- A video is named by what it plays; what has no line above is a property of its own name. -->
<xsl:template match="video:video">
  <xsl:variable name="name"><xsl:for-each select="(video:content_loc | video:player_loc)[1]"><xsl:value-of select="q:resolve(string(.))"/></xsl:for-each></xsl:variable>
  <xsl:element name="v:video" namespace="http://www.google.com/schemas/sitemap-video/1.1#">
    <rdf:Description>
      <xsl:if test="string($name)"><xsl:attribute name="rdf:about"><xsl:value-of select="$name"/></xsl:attribute></xsl:if>
      <xsl:apply-templates select="*"/>
    </rdf:Description>
  </xsl:element>
</xsl:template>
<xsl:template match="image:geo_location | video:*" priority="-0.1">
  <xsl:if test="normalize-space(.)">
    <xsl:element name="v:{local-name()}" namespace="{namespace-uri()}#">
      <xsl:choose>
        <xsl:when test="contains(local-name(), '_loc') and q:resolve(string(.)) and not(self::image:*)"><xsl:attribute name="rdf:resource"><xsl:value-of select="q:resolve(string(.))"/></xsl:attribute></xsl:when>
        <xsl:otherwise><xsl:value-of select="normalize-space(.)"/></xsl:otherwise>
      </xsl:choose>
    </xsl:element>
  </xsl:if>
</xsl:template>

<xsl:template match="xhtml:link[@rel = 'alternate'][@href]">
  <xsl:if test="q:resolve(string(@href))">
    <xhv:alternate><rdf:Description rdf:about="{q:resolve(string(@href))}">
      <xsl:if test="normalize-space(@hreflang)"><dc:language><xsl:value-of select="normalize-space(@hreflang)"/></dc:language></xsl:if>
    </rdf:Description></xhv:alternate>
  </xsl:if>
</xsl:template>
</xsl:stylesheet>
